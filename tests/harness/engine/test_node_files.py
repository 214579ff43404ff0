"""Conditions on a node's own files hold while the node runs, and after it ended."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.checkers.checkpoints import high_watermark
from fencepost.harness.checkers.replica_logs import log_end
from fencepost.harness.engine.observed import OffsetReading


def write(folder: Path, *lines: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "replication-offset-checkpoint").write_text("\n".join(lines) + "\n")


def test_the_checkpoint_of_the_directory_that_holds_the_partition_counts(tmp_path: Path) -> None:
    offset = OffsetReading("t-1", [tmp_path / "data", tmp_path / "data-2"], high_watermark)
    assert offset() is None
    assert offset.found == {"offset": None}
    write(tmp_path / "data", "0", "1", "t 0 9")
    write(tmp_path / "data-2", "0", "1", "t 1 6")
    assert offset() == 6
    assert offset.found == {"offset": 6}


def test_a_file_that_is_no_checkpoint_is_reported_and_not_believed(tmp_path: Path) -> None:
    write(tmp_path / "data", "1", "0")
    offset = OffsetReading("t-1", [tmp_path / "data"], high_watermark)
    assert offset() is None
    assert "is not a checkpoint of version 0" in str(offset.found["message"])


def test_a_log_ends_where_its_newest_segment_does(tmp_path: Path) -> None:
    offset = OffsetReading("t-1", [tmp_path], log_end)
    assert offset() is None
    (tmp_path / "t-1").mkdir()
    (tmp_path / "t-1" / "00000000000000000012.log").touch()
    assert offset() == 12
