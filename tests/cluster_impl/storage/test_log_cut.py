"""A log that is cut at its start, and one that begins anew behind a snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.cluster_impl.storage.log import Log, OffsetOutOfRange
from fencepost.cluster_impl.wire import batches as format_


def append(log: Log, epoch: int, *values: bytes) -> None:
    log.append_as_leader(bytearray(format_.build([(None, value, 0) for value in values])), epoch)


def segmented(folder: Path) -> Log:
    """Segments at 0, 2 and 4; epochs 1 from 0 and 3 from 3."""
    log = Log.open(folder)
    for epoch, values in ((1, (b"a", b"b")), (1, (b"c",)), (3, (b"d",)), (3, (b"e",))):
        append(log, epoch, *values)
        if log.log_end_offset in (2, 4):
            log.roll()
    return log


@pytest.mark.parametrize(
    ("offset", "start", "epochs"),
    [
        (1, 0, [(1, 0), (3, 3)]),
        (2, 2, [(1, 2), (3, 3)]),
        (3, 2, [(1, 2), (3, 3)]),
        (4, 4, [(3, 4)]),
        (5, 4, [(3, 4)]),
    ],
)
def test_whole_segments_before_an_offset_go(
    tmp_path: Path, offset: int, start: int, epochs: list[tuple[int, int]]
) -> None:
    log = segmented(tmp_path)
    log.flush()
    log.cut_before(offset)
    log.flush()
    assert (log.log_start_offset, log.log_end_offset) == (start, 5)
    assert [batch.next_offset for batch in log.batches(start)][-1] == 5
    if start:
        with pytest.raises(OffsetOutOfRange):
            log.read(start - 1, 1000, 5)
    entries = list(log.epochs.entries)
    append(log, 3, b"f")
    log.close()
    again = Log.open(tmp_path)
    assert (again.log_start_offset, again.log_end_offset) == (start, 6)
    assert again.epochs.entries == entries == epochs
    again.close()


def test_an_empty_segment_is_not_followed_by_another(tmp_path: Path) -> None:
    log = segmented(tmp_path)
    log.roll()
    log.roll()
    assert sorted(path.stem.lstrip("0") for path in tmp_path.glob("*.log")) == ["", "2", "4", "5"]
    log.close()
    assert Log.open(tmp_path).log_end_offset == 5


def test_a_log_that_begins_anew_goes_on_at_its_offset(tmp_path: Path) -> None:
    log = segmented(tmp_path)
    log.begin_anew(100)
    assert (log.log_start_offset, log.log_end_offset, log.epochs.entries) == (100, 100, [])
    append(log, 7, b"x")
    log.flush()
    log.close()
    again = Log.open(tmp_path)
    assert (again.log_start_offset, again.log_end_offset) == (100, 101)
    assert again.epochs.entries == [(7, 100)]
    again.close()
