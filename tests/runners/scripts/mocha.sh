# Mocha 12 with its own reporter, and Mocha 11 with mocha-junit-reporter, which does not start under 12.
node_packages "mocha$(at @ 12.0.3)"
of_node mocha
project log.spec.js <<'JS'
const assert = require("node:assert");
const { appendFileSync, readFileSync } = require("node:fs");
const note = (test, outcome) => appendFileSync(process.env.RAN, `${test} ${outcome}\n`);
const flaky = () => {
  const again = readFileSync(process.env.RAN, "utf8").includes("flaky");
  note("flaky", again ? "P" : "F");
  if (!again) throw new Error("17 records are gone");
};
describe("log", () => {
  it("passes", () => note("passes", "P"));
  it("fails", () => {
    note("fails", "F");
    assert.fail("17 records are gone");
  });
  it("errors", () => {
    note("errors", "E");
    throw new TypeError("17 records are gone");
  });
  it("flaky", flaky);
  it.skip("skips", () => {});
});
JS
runs "xunit, --retries 2" sh -c 'npx mocha --retries 2 --reporter xunit --reporter-option "output=$REPORTS/r.xml" log.spec.js'
node_packages mocha@11.8.0 "mocha-junit-reporter$(at @ 2.2.1)"
of_node mocha
of_node mocha-junit-reporter
runs "mocha-junit-reporter, --retries 2" sh -c 'MOCHA_FILE=$REPORTS/r.xml npx mocha --retries 2 --reporter mocha-junit-reporter log.spec.js'
