"""Commands that undo what a dead run broke elsewhere: run once, and reported if they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.cleaning.cleanup import clean
from fencepost.harness.processes.resources import ResourceRecords, read_resources


@pytest.mark.parametrize(("program", "left"), [("true", 0), ("false", 1), ("no-such-program", 1)])
def test_the_command_of_a_broken_broker_is_run_and_owed_until_it_succeeds(
    program: str, left: int, tmp_path: Path
) -> None:
    records = ResourceRecords(tmp_path)
    records.intend("command", "broker-112", argv=["sh", "-c", "touch never"], folder=str(tmp_path))
    records.gone("command", "broker-112")
    records.intend("command", "broker-111", argv=[program, "broker-111"], folder=str(tmp_path))
    records.intend("command", "broker-113", argv=["touch", "healed"], folder=str(tmp_path))
    report = clean(tmp_path)
    assert [each.what for each in report.of("command")] == ["broker-111", "broker-113"]
    assert (tmp_path / "healed").exists()
    assert not (tmp_path / "never").exists()
    assert ["broker-111" in problem and "by hand" in problem for problem in report.problems] == [True] * left
    assert len(read_resources(tmp_path)) == left
