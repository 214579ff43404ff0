"""The two lines that make a started process findable."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from fencepost.harness.processes import table
from fencepost.harness.processes.records import TOKEN, ProcessRecords, StartRecord, living, read_records
from fencepost.harness.processes.table import Identity


def test_an_intent_is_on_disk_before_anything_is_started(tmp_path: Path) -> None:
    records = ProcessRecords(tmp_path / "processes.jsonl")
    stamp = records.intend("node-4", ["true"])
    assert read_records(tmp_path / "processes.jsonl") == [StartRecord(stamp[TOKEN], "node-4", table.boot_id())]


def test_two_starts_of_one_node_have_two_tokens(tmp_path: Path) -> None:
    records = ProcessRecords(tmp_path / "processes.jsonl")
    first, second = records.intend("node-4", ["true"]), records.intend("node-4", ["true"])
    records.started(second[TOKEN], Identity(7, 8))
    read = read_records(tmp_path / "processes.jsonl")
    assert [(each.token, each.identity) for each in read] == [(first[TOKEN], None), (second[TOKEN], Identity(7, 8))]


def test_a_torn_last_line_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "processes.jsonl"
    records = ProcessRecords(path)
    stamp = records.intend("node-4", ["true"])
    with path.open("a") as file:
        file.write('{"phase": "started", "tok')
    assert [each.token for each in read_records(path)] == [stamp[TOKEN]]


def test_a_run_that_started_nothing_has_no_records(tmp_path: Path) -> None:
    assert read_records(tmp_path / "processes.jsonl") == []


def await_environment(pid: int, name: str) -> None:
    """A process that was just started has that of its parent, or none, until exec is over."""
    deadline = time.monotonic() + 20
    while name not in table.environment(pid):
        assert time.monotonic() < deadline


@pytest.mark.integration
def test_a_process_whose_pid_was_never_noted_is_found_by_its_token(tmp_path: Path) -> None:
    records = ProcessRecords(tmp_path / "processes.jsonl")
    stamp = records.intend("node-4", ["sleep"])
    with subprocess.Popen(["sleep", "60"], env={**os.environ, **stamp}) as process:
        await_environment(process.pid, TOKEN)
        found = living(read_records(tmp_path / "processes.jsonl"))
        process.kill()
    assert [(record.node, identity.pid) for record, identity in found] == [("node-4", process.pid)]


def test_nothing_of_an_earlier_boot_lives() -> None:
    me = table.identify(os.getpid())
    assert living([StartRecord("token", "node-4", "another boot", me)]) == []
    assert living([StartRecord("token", "node-4", table.boot_id(), me)]) != []
