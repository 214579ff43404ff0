"""The row of one way to run a runner: what our import reads of its reports, beside what ran."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from fencepost.results.store.allure import read_allure
from fencepost.results.store.cases import Case, Imported
from fencepost.results.store.junit import read_junit
from fencepost.results.store.xml_reports import read_xml

TESTS: Final = ("passes", "fails", "errors", "flaky")
SKIPPED: Final = "skips"
REASON: Final = "17 records are gone"
"""Words that each test fails with."""


def row_of(way: Path, name: str, versions: Sequence[str]) -> str:
    """Return the row of the reports in a folder, which is named for the way in which the runner ran.

    Raise RuntimeError if nothing was read of them.
    """
    allure = sorted(way.glob("*-result.json"))
    found = read_allure(way) if allure else read_junit(way)
    if not found.is_whole:
        raise RuntimeError(f"{(way / 'way').read_text()}: nothing was read, or not all: {found.unreadable}")
    ran = _ran(way / "ran")
    read = {test: _read(found, test) for test in (*TESTS, SKIPPED)}
    cells = [_cell(ran.get(test, ""), read[test]) for test in TESTS]
    skipped = read[SKIPPED] or ("did not run" if found.skipped else "-")
    runner = ", ".join(sorted({file.runner for file in found.files}))
    switch = next((file.switch for file in found.files if file.switch), "")
    lost = "; ".join(_lost(found, ran, read))
    writes = _fields(allure) if allure else _elements(way)
    shown = [
        name,
        ", ".join(versions),
        (way / "way").read_text(),
        writes,
        runner,
        *cells,
        skipped,
        lost or "nothing",
        switch if lost else "",
    ]
    return f"| {' | '.join(shown)} |"


def _ran(path: Path) -> dict[str, str]:
    """Return the executions of each test as letters: P, F for a failed assertion, E for another error."""
    ran: dict[str, str] = {}
    for line in path.read_text().splitlines():
        test, outcome = line.split()
        ran[test] = ran.get(test, "") + outcome
    return ran


def _of(found: Imported, test: str) -> list[Case]:
    return [case for case in found.cases if test in case.title.lower()]


def _read(found: Imported, test: str) -> str:
    tests: dict[str, str] = {}
    for case in _of(found, test):
        letter = "P" if case.verdict == "pass" else "E" if case.kind == "error" else "F"
        tests[case.test] = tests.get(case.test, "") + letter
    return " + ".join(tests.values())


def _cell(ran: str, read: str) -> str:
    """Return what was read of a test, and what ran if that is something else."""
    if not ran:
        return read or "-"
    return read if _failed(read) == _failed(ran) else f"**{read or 'nothing'}**, ran {ran}"


def _failed(outcomes: str) -> str:
    return outcomes.replace("E", "F")


def _lost(found: Imported, ran: dict[str, str], read: dict[str, str]) -> Iterator[str]:
    """Yield what the import could not know."""
    if any(_failed(read[test]) != _failed(outcomes) for test, outcomes in ran.items()):
        yield "executions"
    if any(case.verdict != "pass" and REASON not in case.headline for case in found.cases):
        yield "why an execution failed"
    if found.undated:
        yield "when the tests ran"
    if found.zoneless:
        yield "the zone"
    if any(case.seconds is None for case in found.cases):
        yield "durations"
    if not found.skipped:
        yield "the test that did not run"


def _elements(way: Path) -> str:
    """Return the elements around testcases and in them."""
    around, inside = set(), set()
    for path in sorted(way.rglob("*.xml")):
        root = read_xml(path)
        parents = {child: parent for parent in root.iter() for child in parent}
        for case in root.iter("testcase"):
            inside |= {child.tag for child in case}
            path_to: list[str] = []
            element = case
            while element in parents:
                element = parents[element]
                path_to.insert(0, element.tag)
            around.add("/".join(path_to))
    return f"`{'`, `'.join(sorted(around))}`: {', '.join(sorted(inside))}"


def _fields(results: Sequence[Path]) -> str:
    states = {json.loads(path.read_text()).get("status") for path in results}
    return f"{len(results)} results of Allure: {', '.join(sorted(map(str, states)))}"
