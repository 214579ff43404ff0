"""After kill -9 the files may end anywhere, or be damaged; the part that survives is a valid prefix."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from fencepost.cluster_impl.storage import segment
from fencepost.cluster_impl.storage.log import Log
from fencepost.cluster_impl.wire.batches import HEADER_BYTES
from tests.cluster_impl.storage.records import batch
from tests.cluster_impl.storage.test_log import content, files, filled


def prefix_at(original: Log, size: int) -> tuple[bytes, int]:
    """The whole batches in the first `size` bytes of a log, and their end offset."""
    data, end = b"", 0
    for each in original.batches(0):
        if len(data) + each.size > size:
            break
        data, end = data + bytes(each.view), each.next_offset
    return data, end


@pytest.mark.parametrize("seed", range(30))
def test_a_torn_tail_is_cut_after_the_last_whole_batch(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    original, everything = filled(tmp_path, seed, segment_bytes=random.choice((2000, 10**6)))
    last = sorted(tmp_path.glob("*.log"))[-1]
    torn = random.randrange(last.stat().st_size + 1)
    size = len(everything) - torn
    expected, end = prefix_at(original, size)
    os.truncate(last, last.stat().st_size - torn)
    recovered = Log.open(tmp_path)
    assert content(recovered) == expected == files(tmp_path)
    assert recovered.log_end_offset == end
    assert recovered.recovered_bytes_cut == size - len(expected)
    recovered.append_as_leader(batch(2), 100)
    assert recovered.log_end_offset == end + 2
    original.close()
    recovered.close()


@pytest.mark.parametrize("seed", range(40))
def test_damage_anywhere_leaves_the_batches_before_it(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    original, everything = filled(tmp_path, seed, segment_bytes=random.choice((2000, 10**6)))
    position = random.randrange(len(everything))
    epochs_before = original.epochs.entries
    expected, _ = prefix_at(original, position)
    in_epoch_field = 12 <= position - len(expected) < 16
    _overwrite(tmp_path, position, bytes([everything[position] ^ random.randrange(1, 256)]))
    recovered = Log.open(tmp_path)
    if in_epoch_field:
        assert recovered.log_end_offset == original.log_end_offset, "no checksum covers the leader epoch"
    else:
        assert content(recovered) == expected == files(tmp_path)
        assert recovered.recovered_bytes_cut == len(everything) - len(expected)
        assert recovered.epochs.entries == [e for e in epochs_before if e.start_offset < recovered.log_end_offset]
    original.close()
    recovered.close()


def _overwrite(directory: Path, position: int, data: bytes) -> None:
    """Overwrites bytes at a position of the whole log."""
    for path in sorted(directory.glob("*.log")):
        size = path.stat().st_size
        if position < size:
            with open(path, "r+b") as file:
                file.seek(position)
                file.write(data)
            return
        position -= size


@pytest.mark.parametrize("garbage", [bytes(1), bytes(100), b"\xff" * 100, bytes(10_000)])
def test_zeros_or_garbage_behind_the_last_batch_are_cut(tmp_path: Path, garbage: bytes) -> None:
    original, everything = filled(tmp_path, 1)
    original.close()
    with open(sorted(tmp_path.glob("*.log"))[-1], "ab") as file:
        file.write(garbage)
    recovered = Log.open(tmp_path)
    assert recovered.recovered_bytes_cut == len(garbage)
    assert content(recovered) == everything
    recovered.close()


def test_a_lost_segment_in_the_middle_ends_the_log_before_it(tmp_path: Path) -> None:
    original, _ = filled(tmp_path, 1, segment_bytes=2000)
    original.close()
    paths = sorted(tmp_path.glob("*.log"))
    lost = int(paths[2].stem)
    cut = sum(path.stat().st_size for path in paths[3:])
    paths[2].unlink()
    recovered = Log.open(tmp_path)
    assert recovered.log_end_offset == lost
    assert recovered.recovered_bytes_cut == cut
    assert sorted(tmp_path.glob("*.log")) == paths[:2]
    recovered.close()


@pytest.mark.parametrize("damage", ["missing", "empty", "garbage"])
def test_the_epochs_come_from_the_batches_whatever_became_of_their_checkpoint(tmp_path: Path, damage: str) -> None:
    original, _ = filled(tmp_path, 2)
    entries = original.epochs.entries
    original.close()
    checkpoint = tmp_path / "leader-epoch-checkpoint"
    lines = checkpoint.read_text().splitlines()
    assert lines == ["0", str(len(entries)), *(f"{epoch} {start}" for epoch, start in entries)]
    if damage == "missing":
        checkpoint.unlink()
    else:
        checkpoint.write_text("" if damage == "empty" else "0\n1\n999 0\n")
    recovered = Log.open(tmp_path)
    assert recovered.epochs.entries == entries
    assert checkpoint.read_text().splitlines() == lines
    recovered.close()


@pytest.mark.integration
def test_what_was_appended_before_kill_9_is_there_afterwards(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", _ENDLESS_WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    acknowledged = -1
    try:
        for line in writer.stdout:
            acknowledged = int(line)
            if acknowledged >= 2000:
                break
    finally:
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
    acknowledged = max([acknowledged, *(int(line) for line in rest.split("\n")[:-1])])
    recovered = Log.open(tmp_path)
    assert recovered.log_end_offset > acknowledged
    assert all(each.verify_crc() for each in recovered.batches(0))
    recovered.close()


_ENDLESS_WRITER = """
import sys
from pathlib import Path
from fencepost.cluster_impl.storage.log import Log
from fencepost.cluster_impl.wire.batches import build
log = Log.open(Path(sys.argv[1]), segment_bytes=100_000)
while True:
    print(log.append_as_leader(build([(None, bytes(500), 1)] * 3), 0).last_offset, flush=True)
"""


@pytest.mark.parametrize("piece", [HEADER_BYTES, 70, 500])
def test_a_log_is_recovered_the_same_in_pieces_of_any_size(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, everything = filled(tmp_path, seed=1, segment_bytes=10**6)
    original.close()
    monkeypatch.setattr(segment, "_SCAN_BYTES", piece)
    recovered = Log.open(tmp_path)
    assert content(recovered) == everything == files(tmp_path)
    assert recovered.recovered_bytes_cut == 0
    recovered.close()


def test_a_log_that_cannot_be_read_is_an_error_and_not_the_end_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path, seed=1)[0].close()

    def refused(fd: int, size: int, position: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", refused)
    with pytest.raises(OSError, match="Input/output error"):
        Log.open(tmp_path)
