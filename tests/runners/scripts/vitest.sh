# Vitest.
node_packages "vitest$(at @ 5.1.2)" allure-vitest@3.12.2
of_node vitest
of_node allure-vitest
project log.test.mjs <<'JS'
import { appendFileSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
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
project allure.config.mjs <<'JS'
export default {
  test: {
    setupFiles: ["allure-vitest/setup"],
    reporters: [["allure-vitest/reporter", { resultsDir: process.env.REPORTS }]],
  },
};
JS
runs "junit, --retry 2" sh -c 'npx vitest run --retry 2 --reporter junit --outputFile "$REPORTS/r.xml"'
runs "allure-vitest, --retry 2" sh -c 'npx vitest run --retry 2 --config allure.config.mjs'
