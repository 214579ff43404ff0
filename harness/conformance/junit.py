"""JUnit XML: the verdict of a run decides if its test has a failure, an error, or was skipped.

pytest itself writes `<failure>` for every exception of a test. A run that says nothing about the target is no failure
of the target: it becomes an `<error>`.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from fencepost.harness.conformance.results import SCENARIO_PROPERTY, VERDICT_PROPERTY
from fencepost.results.records.verdict import Verdict

TAGS = {Verdict.VIOLATION: "failure", Verdict.INFRASTRUCTURE: "error", Verdict.INCONCLUSIVE: "error"}
COUNTS = {"failure": "failures", "error": "errors"}


def restate(path: Path) -> None:
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
