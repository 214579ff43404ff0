"""Segments (built byte by byte), checkpoint files, and the readers of both."""

from pathlib import Path

import pytest

from fencepost.harness.checkers.checkpoints import BadCheckpoint, high_watermark, high_watermarks, leader_epochs
from fencepost.harness.checkers.replica_logs import log_end
from fencepost.harness.checkers.segments import UnreadableBatch, records, scan
from tests.harness.checkers.logs import batch, write_checkpoint, write_log


def values(path: Path) -> list[bytes]:
    return [value for each in scan(path).batches for _, value in records(each)]


def test_records_are_read_with_offset_epoch_and_value(tmp_path: Path) -> None:
    path = write_log(tmp_path, batch(0, "a", "b" * 300), batch(2, "c", epoch=4))
    first, second = scan(path).batches
    assert (first.leader_epoch, records(first)) == (1, [(0, b"a"), (1, b"b" * 300)])
    assert (second.leader_epoch, records(second)) == (4, [(2, b"c")])


def test_batches_compressed_by_gzip_are_unpacked(tmp_path: Path) -> None:
    assert values(write_log(tmp_path, batch(0, "a", "b", attributes=1))) == [b"a", b"b"]


def test_other_codecs_are_opaque_and_named(tmp_path: Path) -> None:
    (found,) = scan(write_log(tmp_path, batch(0, "a", attributes=4))).batches
    with pytest.raises(UnreadableBatch, match="is compressed by codec 4"):
        records(found)


def test_control_batches_hold_no_records(tmp_path: Path) -> None:
    assert values(write_log(tmp_path, batch(0, "marker", attributes=0x20), batch(1, "a"))) == [b"a"]


@pytest.mark.requirement("SEG-05")
def test_every_torn_end_is_where_the_log_ends(tmp_path: Path) -> None:
    first, second = batch(0, "a"), batch(1, "b")
    for length in range(1, len(second)):
        found = scan(write_log(tmp_path, first, second[:length]))
        assert [each.last for each in found.batches] == [0]
        assert found.torn and found.torn.bytes_left == length
        assert found.damage is None


@pytest.mark.requirement("SEG-05")
def test_a_wrong_checksum_is_a_torn_end_or_damage_by_what_follows(tmp_path: Path) -> None:
    wrong = batch(1, "b", right=False)
    last = scan(write_log(tmp_path, batch(0, "a"), wrong))
    middle = scan(write_log(tmp_path, batch(0, "a"), wrong, batch(2, "c")))
    assert last.torn and "checksum of the batch at offset 1" in last.torn.reason and not last.damage
    assert middle.damage and "checksum of the batch at offset 1" in middle.damage.reason and not middle.torn


def test_what_is_no_batch_of_magic_2_is_damage(tmp_path: Path) -> None:
    found = scan(write_log(tmp_path, batch(0, "a"), batch(1, "b", magic=1)))
    assert found.damage and str(found.damage).endswith("no batch of magic 2 (magic 1, length 57)")


def test_the_end_of_a_log_is_known_while_it_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "data-2" / "t-0"
    dirs = [tmp_path / "data", tmp_path / "data-2"]
    assert log_end(dirs, "t", 0) is None
    folder.mkdir(parents=True)
    assert log_end(dirs, "t", 0) == 0
    write_log(folder, batch(0, "a", "b"))
    write_log(folder, batch(2, "c"), batch(3, "d")[:-1], name="00000000000000000002.log")
    assert log_end(dirs, "t", 0) == 3
    write_log(folder, name="00000000000000000007.log")
    assert log_end(dirs, "t", 0) == 7


def test_checkpoints_are_read_as_they_stand(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "data-2" / "replication-offset-checkpoint", ["t 0 7", "a-b 3 0"])
    write_checkpoint(tmp_path / "data-2" / "t-0" / "leader-epoch-checkpoint", ["0 0", "3 12"])
    assert high_watermarks(tmp_path / "data-2") == {("t", 0): 7, ("a-b", 3): 0}
    assert high_watermark([tmp_path / "data", tmp_path / "data-2"], "t", 0) == 7
    assert high_watermark([tmp_path / "data", tmp_path / "data-2"], "t", 1) is None
    assert leader_epochs(tmp_path / "data-2" / "t-0") == ((0, 0), (3, 12))


@pytest.mark.parametrize("text", ["1\n0\n", "0\n2\nt 0 7\n", "0\n1\nt 0\n", "0\n1\nt 0 x\n", "x"])
def test_a_checkpoint_of_another_format_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "replication-offset-checkpoint").write_text(text)
    with pytest.raises(BadCheckpoint, match="replication-offset-checkpoint is not a checkpoint"):
        high_watermarks(tmp_path)


def test_an_empty_checkpoint_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "replication-offset-checkpoint").touch()
    assert high_watermarks(tmp_path) == {}


def test_records_with_keys_are_read_like_those_without(tmp_path: Path) -> None:
    assert values(write_log(tmp_path, batch(0, "a", "b", key="k" * 100))) == [b"a", b"b"]


def test_records_long_after_the_first_and_in_large_batches_are_read(tmp_path: Path) -> None:
    names = [f"v{number}" for number in range(100)]
    assert values(write_log(tmp_path, batch(0, *names, later_ms=100_000))) == [name.encode() for name in names]


@pytest.mark.parametrize(("attributes", "packed"), [(1, b"no gzip"), (0, b"\x10")], ids=["gzip", "plain"])
def test_records_that_cannot_be_unpacked_are_an_error_that_names_the_batch(
    tmp_path: Path, attributes: int, packed: bytes
) -> None:
    (found,) = scan(write_log(tmp_path / "t-0", batch(0, "a", attributes=attributes, packed=packed))).batches
    with pytest.raises(UnreadableBatch, match=r"byte 0 of t-0/0+\.log has a valid checksum and cannot be unpacked"):
        records(found)


def test_a_checkpoint_that_cannot_be_opened_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "data" / "replication-offset-checkpoint").mkdir(parents=True)
    write_checkpoint(tmp_path / "data-2" / "replication-offset-checkpoint", ["t 0 7"])
    assert high_watermark([tmp_path / "data", tmp_path / "data-2"], "t", 0) == 7


def test_a_segment_that_cannot_be_opened_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "t-0"
    write_log(folder, batch(0, "a"))
    (folder / "00000000000000000001.log").mkdir()
    assert log_end([tmp_path / "data"], "t", 0) == 1


def test_a_partition_with_unreadable_segments_only_has_an_empty_log(tmp_path: Path) -> None:
    (tmp_path / "data" / "t-0" / "00000000000000000003.log").mkdir(parents=True)
    assert log_end([tmp_path / "data"], "t", 0) == 0
