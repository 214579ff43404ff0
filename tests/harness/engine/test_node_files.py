"""Conditions on a node's own files hold while the node runs, and after it ended."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.checkers.checkpoints import high_watermark
from fencepost.harness.checkers.replica_logs import log_end
from fencepost.harness.engine.node_files import NodeFiles
from fencepost.harness.plan.conditions import Checkpoint, LogEnd

AT_LEAST_7 = Checkpoint(node="node-4", partition="t-1", at_least=7, within_ms=1)


def write(folder: Path, *lines: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "replication-offset-checkpoint").write_text("\n".join(lines) + "\n")


def test_the_checkpoint_of_the_directory_that_holds_the_partition_counts(tmp_path: Path) -> None:
    condition = NodeFiles(AT_LEAST_7, [tmp_path / "data", tmp_path / "data-2"], high_watermark)
    assert not condition()
    assert condition.found == {"offset": None}
    write(tmp_path / "data", "0", "1", "t 0 9")
    write(tmp_path / "data-2", "0", "1", "t 1 6")
    assert not condition()
    assert condition.found == {"offset": 6}
    write(tmp_path / "data-2", "0", "1", "t 1 7")
    assert condition()


def test_a_file_that_is_no_checkpoint_is_reported_and_not_believed(tmp_path: Path) -> None:
    write(tmp_path / "data", "1", "0")
    condition = NodeFiles(AT_LEAST_7, [tmp_path / "data"], high_watermark)
    assert not condition()
    assert "is not a checkpoint of version 0" in str(condition.found["message"])


def test_a_log_ends_where_its_newest_segment_does(tmp_path: Path) -> None:
    condition = NodeFiles(LogEnd(node="node-4", partition="t-1", is_=12, within_ms=1), [tmp_path], log_end)
    assert not condition()
    (tmp_path / "t-1").mkdir()
    (tmp_path / "t-1" / "00000000000000000012.log").touch()
    assert condition()
