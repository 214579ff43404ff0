# Cucumber of JavaScript.
node_packages "@cucumber/cucumber$(at @ 13.3.0)"
of_node @cucumber/cucumber
project features/log.feature <<'FEATURE'
Feature: log
  Scenario: passes
    When it passes
  Scenario: fails
    When it fails
  Scenario: errors
    When it errors
  Scenario: flaky
    When it is flaky
  Scenario: skips
    When it skips
FEATURE
project features/steps.js <<'JS'
const assert = require("node:assert");
const { When } = require("@cucumber/cucumber");
const { appendFileSync, readFileSync } = require("node:fs");
const note = (test, outcome) => appendFileSync(process.env.RAN, `${test} ${outcome}\n`);
const flaky = () => {
  const again = readFileSync(process.env.RAN, "utf8").includes("flaky");
  note("flaky", again ? "P" : "F");
  if (!again) throw new Error("17 records are gone");
};
When("it passes", () => note("passes", "P"));
When("it fails", () => {
  note("fails", "F");
  assert.fail("17 records are gone");
});
When("it errors", () => {
  note("errors", "E");
  throw new TypeError("17 records are gone");
});
When("it is flaky", flaky);
When("it skips", () => "skipped");
JS
runs "junit, --retry 2" sh -c 'npx cucumber-js --retry 2 --format "junit:$REPORTS/r.xml"'
