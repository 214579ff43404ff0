"""Histories in the form of RETECS: executions, attempts in one cycle, and lines that are no execution."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from fencepost.results.store.builds import Reading
from fencepost.results.store.imports import Origin, add_new
from fencepost.results.store.retecs import read_retecs
from fencepost.results.store.store import Store

HEAD = "Id;Name;Duration;CalcPrio;LastRun;LastResults;Verdict;Cycle\n"
LINES = (
    "1;70;54015;0;2015-02-13 16:13:00;[];1;1\n",
    "2;71;61690;0;2015-02-13 16:14:00;[];0;1\n",
    "3;70;54015;0;2015-02-13 16:17:00;[1];0;1\n",
    "4;70;54015;0;2015-02-14 09:00:00;[0, 1];0;2\n",
)


def history(folder: Path, *lines: str) -> Path:
    path = folder / "history.csv"
    path.write_text(HEAD + "".join(lines))
    return path


def test_executions_of_a_test_in_a_cycle_are_attempts_up_to_one_that_passed(tmp_path: Path) -> None:
    found = read_retecs(history(tmp_path, *LINES), Reading(ZoneInfo("Europe/Oslo")))
    read = [(each.test, each.build.build, each.attempt, each.attempts, each.verdict) for each in found.cases]
    assert read == [
        ("70", "cycle 1", 1, 2, "violation"),
        ("70", "cycle 1", 2, 2, "pass"),
        ("71", "cycle 1", 1, 1, "pass"),
        ("70", "cycle 2", 1, 1, "pass"),
    ]
    first = found.cases[0]
    assert (first.seconds, first.started.isoformat(), first.started.tzinfo) == (
        54.015,
        "2015-02-13T15:13:00+00:00",
        UTC,
    )
    assert (found.files[0].tests, found.files[0].attempts, found.zoneless, found.is_whole) == (2, 4, 4, True)


def test_a_history_that_grew_adds_its_new_lines(tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    added = [add_new(read_retecs(history(tmp_path, *LINES[:end])), "retecs", Origin(), store) for end in (3, 4, 4)]
    assert added == [3, 1, 0]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1;70;5;0;yesterday;[];1;1\n", "line 2: LastRun 'yesterday' is no time"),
        ("1;70;5;0;2015-02-13 16:13:00;[];2;1\n", "line 2: Verdict '2' is neither 0 nor 1"),
        ("1;70;long;0;2015-02-13 16:13:00;[];0;1\n", "line 2: could not convert"),
    ],
)
def test_a_line_that_is_no_execution_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = history(tmp_path, line)
    found = read_retecs(tmp_path)
    assert found.unreadable[path].startswith(reason) and not found.is_whole


def test_another_table_is_no_history(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("name,price\na,1\n")
    [reason] = read_retecs(tmp_path).unreadable.values()
    assert "no columns Id, Name, Duration, LastRun, Verdict, Cycle" in reason
