"""Lines of nodes' logs are found as they are written, from an instant on, and kept until the node writes no more."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fencepost.harness.engine.conditions import evaluation, holds
from fencepost.harness.engine.node_logs import Instants, NodeLogs
from fencepost.harness.plan.base import After, LogLine
from fencepost.harness.plan.conditions.logged import Logged
from tests.harness.engine.still_context import healthy, still_context


def say(folder: Path, text: str, node: str = "node-4") -> None:
    with (folder / f"{node}.log").open("a") as log:
        log.write(text)


def test_a_line_counts_once_it_is_whole(tmp_path: Path) -> None:
    search = NodeLogs(tmp_path, ["node-4"]).search("node-4", "step caught-up, at epoch [0-9]+$")
    assert not search()
    say(tmp_path, "begun\nleader, step caught-up, at epoch 1")
    assert not search()
    say(tmp_path, "0\nended\n")
    assert search()
    assert search.found == {"line": "leader, step caught-up, at epoch 10"}


def test_what_was_said_before_an_instant_does_not_count(tmp_path: Path) -> None:
    logs = NodeLogs(tmp_path, ["node-4", "node-5"])
    instants = Instants(logs.mark)
    say(tmp_path, "registered\n")
    assert instants.setdefault("cut.proven", 1.5) == 1.5
    assert logs.search("node-4", "registered")()
    after = logs.search("node-4", "registered", "cut.proven")
    assert not after()
    instants.setdefault("cut.proven", 9.9)
    say(tmp_path, "registered\n")
    assert after()
    assert instants == {"cut.proven": 1.5}


def test_what_a_node_said_from_a_found_line_on_is_kept(tmp_path: Path) -> None:
    logs = NodeLogs(tmp_path, ["node-4"])
    say(tmp_path, "one\ntwo\nthree\n")
    assert logs.since_found("node-4") is None
    assert logs.search("node-4", "two")()
    say(tmp_path, "four\n")
    assert logs.since_found("node-4") == ["two", "three", "four"]


def test_a_line_is_looked_for_every_few_milliseconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs, slept = NodeLogs(tmp_path, ["node-4"]), []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            say(tmp_path, "step isr-written\n")

    monkeypatch.setattr("fencepost.harness.processes.waiting.time.sleep", sleep)
    assert logs.await_line("node-4", LogLine(says="isr-written"), time.monotonic() + 60) == "step isr-written"
    assert len(slept) == 3
    assert max(slept) <= 0.01


def test_waiting_for_a_line_ends_with_its_deadline(tmp_path: Path) -> None:
    logs = NodeLogs(tmp_path, ["node-4"])
    assert logs.await_line("node-4", LogLine(says="never"), time.monotonic() + 0.01) is None


def test_a_plan_waits_for_a_line(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    context.logs.mark("kill.proven")
    condition = evaluation(Logged(node="leader:t-0", says="epoch 1[0-9]", within_ms=1), "said", context)
    later = Logged(node="node-4", says="epoch", within_ms=1, after=After(event="kill.proven"))
    assert not holds(condition.holds)
    say(tmp_path, "follower, at epoch 12\n")
    assert holds(condition.holds)
    assert holds(evaluation(later, "later", context).holds)
    assert condition.found() == {"line": "follower, at epoch 12"}


def test_an_instant_that_has_not_come_marks_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        NodeLogs(tmp_path, ["node-4"]).search("node-4", "x", "kill.proven")
