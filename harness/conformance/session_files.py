"""The files of a session for other programs: JUnit XML restated by the verdicts, and the session of an Allure report.

pytest itself writes `<failure>` for every exception of a test. A run that says nothing about the target is no failure
of the target: it becomes an `<error>`. The session of an Allure report has its environment and the categories of its
results.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

from fencepost.harness.conformance.results import SCENARIO_PROPERTY, VERDICT_PROPERTY
from fencepost.results.records.verdict import Verdict

TAGS = {Verdict.VIOLATION: "failure", Verdict.INFRASTRUCTURE: "error", Verdict.INCONCLUSIVE: "error"}
COUNTS = {"failure": "failures", "error": "errors"}


def restate_junit(path: Path) -> None:
    """Give each test of a run in the file the element that its verdict asks for, and count anew."""
    tree = ElementTree.parse(path)
    for suite in tree.iter("testsuite"):
        for case in suite.iter("testcase"):
            properties = {each.get("name"): each.get("value") for each in case.iter("property")}
            if SCENARIO_PROPERTY not in properties:
                continue
            verdict = Verdict(properties.get(VERDICT_PROPERTY) or Verdict.INFRASTRUCTURE)
            for element in case:
                _restate(element, verdict)
        for tag, count in COUNTS.items():
            suite.set(count, str(sum(case.find(tag) is not None for case in suite.iter("testcase"))))
    tree.write(path, encoding="utf-8", xml_declaration=True)


def _restate(element: ElementTree.Element, verdict: Verdict) -> None:
    if element.tag in COUNTS and verdict in TAGS:
        element.tag = TAGS[verdict]
        element.set("type", f"fencepost.{verdict.value}")
    elif element.get("type") == "pytest.skip" and verdict is Verdict.INCONCLUSIVE:
        element.set("type", f"fencepost.{verdict.value}")


ENVIRONMENT = {
    "Target": "fencepost.target",
    "Version of the target": "fencepost.version",
    "Backend": "fencepost.backend",
    "Seed": "fencepost.seed",
}
CATEGORIES = [
    {
        "name": "Violation: a rule was broken",
        "matchedStatuses": ["failed"],
        "messageRegex": r"^fencepost\.Violation: [\s\S]*",
    },
    {
        "name": "Infrastructure: nothing is known of the target",
        "matchedStatuses": ["broken"],
        "messageRegex": r"^fencepost\.Infrastructure: [\s\S]*",
    },
    {
        "name": "Inconclusive: it did not happen as planned",
        "matchedStatuses": ["broken", "skipped"],
        "messageRegex": r"^(fencepost\.Inconclusive|Skipped: inconclusive): [\s\S]*",
    },
]
"""Read by Allure 2 from the results; Allure 3 takes the same list from its configuration."""


def write_allure_session(folder: Path, runs: Iterable[Mapping[str, str]]) -> None:
    """Write `environment.properties` for these runs, and `categories.json` unless the folder has one.

    `runs` has the properties of each test.
    """
    known = list(runs)
    values = {
        name: ", ".join(dict.fromkeys(run[key] for run in known if key in run)) for name, key in ENVIRONMENT.items()
    }
    values |= {"fencepost": importlib.metadata.version("fencepost"), "Python": platform.python_version()}
    values["System"] = platform.platform()
    lines = (f"{name.replace(' ', chr(92) + ' ')} = {value}\n" for name, value in values.items())
    (folder / "environment.properties").write_text("".join(lines), encoding="utf-8")
    categories = folder / "categories.json"
    if not categories.exists():
        categories.write_text(json.dumps(CATEGORIES, indent=2) + "\n", encoding="utf-8")
