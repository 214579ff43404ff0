"""The replica from which a client reads: the leader's choice, and what a follower may show (KIP-392)."""

from __future__ import annotations

from uuid import UUID

import pytest

from fencepost.cluster_impl.api.readers import replica_in_rack
from fencepost.cluster_impl.replication.control_plane import NO_LEADER, PartitionAssignment, TopicPartition
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.partition import Partition
from fencepost.cluster_impl.wire.errors import Error

ALL = (4, 5, 6, 7)
RACKS = {4: "a", 5: "b", 6: "b", 7: "c"}


def state(
    leader: int = 4, isr: tuple[int, ...] = ALL, epoch: int = 3, version: int | None = None
) -> PartitionAssignment:
    return PartitionAssignment(
        topic="t", topic_id=UUID(int=7), partition=0, replicas=ALL, isr=isr, leader=leader,
        leader_epoch=epoch, leader_term_epoch=epoch, version=epoch if version is None else version,
    )  # fmt: skip


def replica(
    assignment: PartitionAssignment, *, end: int = 10, high_watermark: int = 0, start: int = 0, heard: bool = True
) -> Partition:
    """`heard`: its leader has answered it."""
    partition = Partition(4, TopicPartition("t", 0), UUID(int=7), high_watermark=high_watermark, lag_limit=10.0)
    partition.log_start_offset = start
    partition.assign(assignment, log_end_offset=end, min_isr=1, now=0.0)
    if heard:
        partition.note_leader(serves_clients=True)
    return partition


def fetched(leader: Partition, replica_id: int, offset: int, now: float = 1.0, start: int = 0) -> None:
    leader.credit(FollowerFetch(replica_id, 100 + replica_id, leader.leader_epoch, offset, start), now)


@pytest.mark.requirement("DRACK-02")
def test_of_the_replicas_in_a_rack_the_one_with_the_most_records_is_read() -> None:
    leader = replica(state())
    fetched(leader, 5, 8)
    fetched(leader, 6, 9)
    fetched(leader, 7, 10)
    assert replica_in_rack(leader, "b", 3, RACKS) == 6
    fetched(leader, 5, 10)
    assert replica_in_rack(leader, "b", 3, RACKS) == 5


@pytest.mark.requirement("DRACK-02")
def test_of_those_with_as_many_records_the_one_that_was_in_step_last_is_read_and_then_the_highest_id() -> None:
    leader = replica(state())
    fetched(leader, 6, 10, now=1.0)
    fetched(leader, 5, 10, now=2.0)
    assert replica_in_rack(leader, "b", 3, RACKS) == 5
    fetched(leader, 6, 10, now=2.0)
    assert replica_in_rack(leader, "b", 3, RACKS) == 6


@pytest.mark.requirement("DRACK-02")
def test_the_leader_is_read_in_its_own_rack_and_where_there_is_no_other() -> None:
    leader = replica(state())
    for each in (5, 6, 7):
        fetched(leader, each, 10)
    assert replica_in_rack(leader, "a", 3, RACKS | {5: "a"}) is None
    assert replica_in_rack(leader, "z", 3, RACKS) is None
    assert replica_in_rack(leader, "", 3, RACKS | {5: ""}) is None
    assert replica_in_rack(leader, "b", 3, {5: None, 6: None}) is None


@pytest.mark.requirement("DRACK-02")
@pytest.mark.parametrize(
    ("isr", "live", "position", "chosen"),
    [
        (ALL, RACKS, (3, 0), 6),
        ((4, 5, 7), RACKS, (3, 0), 5),
        (ALL, {4: "a", 5: "b"}, (3, 0), 5),
        (ALL, RACKS, (9, 0), 6),
        (ALL, RACKS, (10, 0), None),
        (ALL, RACKS, (3, 4), 5),
    ],
    ids=["most", "in sync", "live", "has the offset", "none has the offset", "begins after the offset"],
)
def test_only_a_live_in_sync_replica_that_has_the_offset_is_read(
    isr: tuple[int, ...], live: dict[int, str | None], position: tuple[int, int], chosen: int | None
) -> None:
    leader = replica(state(isr=isr))
    offset, start = position
    fetched(leader, 5, 8)
    fetched(leader, 6, 9, start=start)
    fetched(leader, 7, 10)
    assert replica_in_rack(leader, "b", offset, live) == chosen


def test_a_follower_names_no_other_replica() -> None:
    assert replica_in_rack(replica(state(leader=5)), "b", 3, RACKS) is None


@pytest.mark.requirement("DRACK-03", "DRACK-05")
@pytest.mark.parametrize(
    ("epoch", "error"),
    [
        (-1, Error.NONE),
        (3, Error.NONE),
        (2, Error.FENCED_LEADER_EPOCH),
        (4, Error.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_a_follower_is_read_at_its_leader_epoch(epoch: int, error: Error) -> None:
    follower = replica(state(leader=5))
    assert follower.check_reader(epoch) is error
    assert follower.check_client(-1) is Error.NOT_LEADER_OR_FOLLOWER


@pytest.mark.requirement("DRACK-05")
def test_a_follower_is_read_once_its_leader_of_this_term_has_said_that_it_serves_clients() -> None:
    follower = replica(state(leader=5), heard=False)
    assert follower.check_reader(3) is Error.NOT_LEADER_OR_FOLLOWER
    follower.note_leader(serves_clients=True)
    assert follower.check_reader(3) is Error.NONE
    follower.assign(state(leader=5, isr=(4, 5, 6), version=4), log_end_offset=10, min_isr=1, now=0.0)
    assert follower.check_reader(3) is Error.NONE
    follower.note_leader(serves_clients=False)
    assert follower.check_reader(3) is Error.NOT_LEADER_OR_FOLLOWER
    follower.note_leader(serves_clients=True)
    follower.assign(state(leader=6, epoch=5), log_end_offset=10, min_isr=1, now=0.0)
    assert follower.check_reader(5) is Error.NOT_LEADER_OR_FOLLOWER


@pytest.mark.requirement("DRACK-05")
def test_a_replica_without_a_leader_or_with_a_broken_disk_is_not_read() -> None:
    assert replica(state(leader=NO_LEADER)).check_reader(3) is Error.NOT_LEADER_OR_FOLLOWER
    follower = replica(state(leader=5))
    follower.stop()
    assert follower.check_reader(3) is Error.NOT_LEADER_OR_FOLLOWER
    follower.fail()
    assert follower.check_reader(3) is Error.KAFKA_STORAGE_ERROR
    leader = replica(state())
    assert leader.check_reader(3) is Error.NONE
    leader.serves_clients = False
    assert leader.check_reader(3) is Error.NOT_LEADER_OR_FOLLOWER


@pytest.mark.requirement("DRACK-04")
@pytest.mark.parametrize(
    ("offset", "error"),
    [
        (1, Error.OFFSET_OUT_OF_RANGE),
        (2, Error.NONE),
        (6, Error.NONE),
        (7, Error.OFFSET_NOT_AVAILABLE),
        (10, Error.OFFSET_NOT_AVAILABLE),
        (11, Error.OFFSET_OUT_OF_RANGE),
    ],
)
def test_a_follower_tells_what_is_not_committed_yet_from_what_is_not_there(offset: int, error: Error) -> None:
    follower = replica(state(leader=5), high_watermark=6, start=2)
    assert follower.check_position(offset) is error


@pytest.mark.requirement("DRACK-04")
def test_what_its_leader_has_committed_and_a_follower_has_not_copied_is_not_available_yet() -> None:
    follower = replica(state(leader=5), end=10)
    follower.note_high_watermark(15)
    assert follower.check_position(15) is Error.OFFSET_NOT_AVAILABLE
    assert follower.check_position(16) is Error.OFFSET_OUT_OF_RANGE
    follower.assign(state(leader=6, epoch=4), log_end_offset=10, min_isr=1, now=0.0)
    assert follower.check_position(15) is Error.OFFSET_OUT_OF_RANGE
