# Playwright, without a browser.
node_packages "@playwright/test$(at @ 1.65.1)" allure-playwright@3.12.2
of_node @playwright/test
of_node allure-playwright
project log.spec.js <<'JS'
const { test, expect } = require("@playwright/test");
const { appendFileSync, readFileSync } = require("node:fs");
const note = (test, outcome) => appendFileSync(process.env.RAN, `${test} ${outcome}\n`);
const flaky = () => {
  const again = readFileSync(process.env.RAN, "utf8").includes("flaky");
  note("flaky", again ? "P" : "F");
  if (!again) throw new Error("17 records are gone");
};
test.describe("log", () => {
  test("passes", () => note("passes", "P"));
  test("fails", () => {
    note("fails", "F");
    expect("17 records are gone").toBe("none");
  });
  test("errors", () => {
    note("errors", "E");
    throw new TypeError("17 records are gone");
  });
  test("flaky", flaky);
  test.skip("skips", () => {});
});
JS
project allure.config.js <<'JS'
module.exports = { reporter: [["allure-playwright", { resultsDir: process.env.REPORTS }]] };
JS
runs "junit, --retries 2" sh -c 'PLAYWRIGHT_JUNIT_OUTPUT_NAME=$REPORTS/r.xml npx playwright test --retries 2 --reporter junit'
runs "junit with includeRetries, --retries 2" sh -c 'PLAYWRIGHT_JUNIT_INCLUDE_RETRIES=1 PLAYWRIGHT_JUNIT_OUTPUT_NAME=$REPORTS/r.xml npx playwright test --retries 2 --reporter junit'
runs "allure-playwright, --retries 2" sh -c 'npx playwright test --retries 2 --config allure.config.js'
