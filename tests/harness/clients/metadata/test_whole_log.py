"""The whole log is what is committed, from a snapshot on if one begins it; a malformed record is named by its place."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import build
from fencepost.cluster_impl.wire.records import encode_record
from fencepost.harness.clients.metadata.fetching import NotLeader
from fencepost.harness.clients.metadata.whole_log import MalformedLog, MetadataLog, read_log
from fencepost.harness.clients.raw import RawConnection
from tests.harness.clients.metadata.leader import LogLeader


def gone(*ids: int) -> list[tuple[bytes | None, bytes | None, int]]:
    return [(None, encode_record(m.DeleteBrokerRecord(id=id)), 0) for id in ids]


CONTROL = build([(b"\0\0\0\2", b"\0\0", 0)], base_offset=0, leader_epoch=3, control=True)
LOG = CONTROL + build(gone(4, 5), base_offset=1, leader_epoch=3) + build(gone(6), base_offset=3, leader_epoch=3)


def read(leader: LogLeader) -> MetadataLog:
    connection: RawConnection = leader.connection()
    return read_log(connection, 3)


def test_all_committed_records_are_read_with_their_batches_and_without_control_records() -> None:
    found = read(LogLeader(LOG, committed=4))
    assert found.snapshot_end is None
    assert found.snapshot == ()
    assert [(each.offset, each.batch, each.record.fields["id"]) for each in found.log] == [
        (1, 1, 4),
        (2, 1, 5),
        (3, 3, 6),
    ]


def test_what_is_not_committed_is_left_out() -> None:
    assert [each.offset for each in read(LogLeader(LOG, committed=3)).log] == [1, 2]


def test_a_log_that_was_cut_begins_with_its_snapshot() -> None:
    snapshot = build(gone(1, 2), base_offset=0, leader_epoch=3)
    found = read(LogLeader(build(gone(6), base_offset=3, leader_epoch=3), committed=4, snapshot=snapshot, end=3))
    assert found.snapshot_end == 3
    assert [each.record.fields["id"] for each in found.snapshot] == [1, 2]
    assert [(each.offset, each.record.fields["id"]) for each in found.log] == [(3, 6)]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (b"4", encode_record(m.DeleteBrokerRecord(id=4)), "the record at offset 1 of the log has the key b'4'"),
        (None, b"\x7f\x01", "the record at offset 1 of the log: type 127 is unknown"),
        (None, None, "the record at offset 1 of the log: it ends too early"),
    ],
)
def test_a_record_that_is_not_as_drafted_is_named(key: bytes | None, value: bytes | None, reason: str) -> None:
    with pytest.raises(MalformedLog, match=reason):
        read(LogLeader(CONTROL + build([(key, value, 0)], base_offset=1, leader_epoch=3), committed=2))


def test_a_batch_with_a_wrong_checksum_is_no_log() -> None:
    with pytest.raises(MalformedLog, match="a batch cannot be read"):
        read(LogLeader(LOG[:-1] + bytes([LOG[-1] ^ 1]), committed=4))


def test_a_controller_that_does_not_lead_or_gives_less_than_it_says_is_not_believed() -> None:
    with pytest.raises(NotLeader, match="not_leader_or_follower"):
        read(LogLeader(LOG, committed=4, error=ErrorCode.not_leader_or_follower))
    with pytest.raises(MalformedLog, match="nothing from offset 4 on"):
        read(LogLeader(LOG, committed=9))
