"""Small files of JUnit XML, and what the import reads of them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from fencepost.results.store.builds import Reading
from fencepost.results.store.cases import Case, Imported
from fencepost.results.store.junit import read_junit

DAY = datetime(2026, 11, 20, 8, tzinfo=UTC)
UNTOUCHED = datetime(2026, 1, 2, tzinfo=UTC)
AT = 'timestamp="2026-11-20T08:00:00Z"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def read(folder: Path, text: str, name: str = "r.xml", reading: Reading = Reading()) -> Imported:  # noqa: B008
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (UNTOUCHED.timestamp(), UNTOUCHED.timestamp()))
    found = read_junit(folder, reading)
    assert not found.unreadable
    return found


def runner(found: Imported) -> str:
    [file] = found.files
    return file.runner


def verdicts(found: Imported) -> dict[str, str]:
    """Return the verdicts of each test in the order of attempts: P and F."""
    by_test: dict[str, list[Case]] = {}
    for case in found.cases:
        by_test.setdefault(case.test, []).append(case)
    for cases in by_test.values():
        assert [case.attempt for case in cases] == list(range(1, len(cases) + 1))
        assert {case.attempts for case in cases} == {len(cases)}
        assert all(a.started < b.started for a, b in pairwise(cases))
    return {test: "".join("FP"[case.verdict == "pass"] for case in cases) for test, cases in by_test.items()}


def case(name: str, *, classname: str = "t", inside: str = "", more: str = 'time="0.5"') -> str:
    return f'<testcase classname="{classname}" name="{name}" {more}>{inside}</testcase>'


FAILURE = '<failure message="no"/>'
