# jest with jest-junit.
node_packages "jest$(at @ 30.5.2)" "jest-junit$(at @ 17.0.0)"
of_node jest
of_node jest-junit
project log.test.js <<'JS'
const { appendFileSync, readFileSync } = require("node:fs");
const note = (test, outcome) => appendFileSync(process.env.RAN, `${test} ${outcome}\n`);
const flaky = () => {
  const again = readFileSync(process.env.RAN, "utf8").includes("flaky");
  note("flaky", again ? "P" : "F");
  if (!again) throw new Error("17 records are gone");
};
jest.retryTimes(2);
describe("log", () => {
  it("passes", () => note("passes", "P"));
  it("fails", () => {
    note("fails", "F");
    expect("17 records are gone").toBe("none");
  });
  it("errors", () => {
    note("errors", "E");
    throw new TypeError("17 records are gone");
  });
  it("flaky", flaky);
  it.skip("skips", () => {});
});
JS
runs "jest-junit, retryTimes(2)" sh -c 'JEST_JUNIT_OUTPUT_DIR=$REPORTS npx jest --ci --reporters jest-junit'
