from __future__ import annotations

import logging
from itertools import count

import pytest

from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.creating import NewTopic, create_topic
from cluster_impl.designs.leader_driven.admin.deleting import delete_partition, delete_topic
from cluster_impl.designs.leader_driven.admin.reading import read_topic
from cluster_impl.designs.leader_driven.admin.seam import Failed
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.admin.memory_world import Died, MemoryWorld
from tests.cluster_impl.designs.leader_driven.admin.rest import check_rest

T0 = TopicPartition("t", 0)


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    create(world, [[4, 5, 6], [5, 6, 4], [6, 4, 5], [4, 6, 5]])
    return world


def create(world: MemoryWorld, assignment: list[list[int]]) -> None:
    world.alone("t", create_topic(world.command, NewTopic("t", assignment=assignment)))
    world.settle()


def delete(world: MemoryWorld, *, writes: int | None = None) -> None:
    world.alone("t", delete_topic(world.command, "t"), writes=writes)


def refusal(world: MemoryWorld) -> Failed:
    with pytest.raises(Failed) as caught:
        delete(world)
    return caught.value


@pytest.mark.requirement("LD-64", "LD-65", "LD-66", "LD-38")
def test_a_topic_is_deleted_by_its_leaders(world: MemoryWorld, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "state.change")
    delete(world)
    check_rest(world)
    assert world.tree.names(znodes.TOPICS) == world.tree.names(znodes.REASSIGNED) == []
    assert not [record for record in caplog.records if "close-replica" in record.getMessage()]  # theirs to ask


@pytest.mark.requirement("DLD-29")
def test_where_nobody_leads_the_command_asks_every_replica_to_close(
    world: MemoryWorld, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    for broker_id in world.brokers:
        world.stop(broker_id)
    delete(world)
    assert world.tree.names(znodes.TOPICS) == world.tree.names(znodes.REASSIGNED) == []
    said = "admin, broker id 9, requested close-replica for topic t partition 0, to broker id 5, at epoch -1"
    assert said in [record.getMessage() for record in caplog.records]
    for broker_id in world.brokers:
        world.start(broker_id)
    check_rest(world)


@pytest.mark.requirement("DLD-12", "LD-04")
def test_a_broker_that_is_away_closes_its_replicas_when_it_is_back(world: MemoryWorld) -> None:
    world.stop(5)
    world.settle()
    delete(world)
    assert world.tree.names(znodes.TOPICS) == []
    assert len(world.tree.names(znodes.state(5))) == 4
    assert world.brokers[5].hosted
    world.start(5)
    assert world.brokers[5].hosted == set()
    check_rest(world)


@pytest.mark.requirement("LD-65", "DLD-12")
def test_a_broker_that_ends_while_it_is_waited_for_is_waited_for_no_more(world: MemoryWorld) -> None:
    world.brokers[6].takes_requests = False
    world.tree.delete(znodes.leader(TopicPartition("t", 2)))  # or it would lead and never close
    world.brokers[6].hosted.discard(TopicPartition("t", 2))
    world.settle()
    act = world.act

    def end_soon() -> bool:
        if world.now > 0.2 and world.brokers[6].is_up:
            world.stop(6)
        return act() or world.brokers[6].is_up

    world.act = end_soon  # type: ignore[method-assign]
    delete(world)
    world.act = act  # type: ignore[method-assign]
    assert world.tree.names(znodes.TOPICS) == []
    assert world.tree.names(znodes.state(6)) != []


@pytest.mark.requirement("LD-65", "LD-64")
def test_a_deletion_that_a_live_broker_does_not_follow_fails_and_is_finished_by_the_next(world: MemoryWorld) -> None:
    world.brokers[5].takes_requests = False
    failed = refusal(world)
    assert failed.error is Error.REQUEST_TIMED_OUT
    assert "broker 5" in str(failed)
    assert world.tree.data(znodes.reassigned(T0)) == b"[]"
    assert world.tree.exists(znodes.topic("t"))
    assert world.tree.names(znodes.ADMIN) == []
    world.brokers[5].takes_requests = True
    delete(world)
    check_rest(world)
    assert world.tree.names(znodes.TOPICS) == []


@pytest.mark.requirement("LD-65")
def test_a_leader_that_does_not_notice_fails_the_deletion(world: MemoryWorld) -> None:
    for broker in world.brokers.values():
        broker.notices = False
    assert "still leads" in str(refusal(world))


@pytest.mark.requirement("DLD-29")
def test_a_leader_that_ends_before_it_asked_anybody_is_made_up_for(world: MemoryWorld) -> None:
    """Its /leader goes, and nothing says that the list was seen: the command asks by itself, also the one who ended."""
    act = world.act

    def end_with_the_list_unread() -> bool:
        for broker in world.brokers.values():
            broker.stands = False
        world.stop(4)
        world.act = act  # type: ignore[method-assign]
        return True

    world.act = end_with_the_list_unread  # type: ignore[method-assign]
    delete(world)
    assert world.tree.names(znodes.TOPICS) == []
    assert world.brokers[5].hosted == world.brokers[6].hosted == set()
    world.start(4)
    assert world.brokers[4].hosted == set()


def test_a_topic_is_deleted_in_the_middle_of_a_move_with_the_replicas_that_were_new(world: MemoryWorld) -> None:
    world.tree.overwrite(znodes.replicas(T0), b"[4,5]")
    world.brokers[4].notices = False
    world.tree.create(znodes.reassigned(T0), b"[5,6]")  # broker 6 has its replica already
    world.brokers[4].notices = True
    # The leader gets no turn before the command writes its empty list.
    delete(world)
    check_rest(world)
    assert world.tree.names(znodes.TOPICS) == []


def test_what_does_not_exist_cannot_be_deleted(world: MemoryWorld) -> None:
    delete(world)
    assert refusal(world).error is Error.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.requirement("LD-64", "LD-66", "DLD-29")
@pytest.mark.parametrize("away", [None, 4, 5])
def test_a_deletion_killed_after_any_write_is_finished_by_the_next_one(away: int | None) -> None:
    for writes in count():
        world = MemoryWorld()
        create(world, [[4, 5], [5, 6], [6, 4], [4, 6]])
        if away is not None:
            world.stop(away)
            world.settle()
        try:
            delete(world, writes=writes)
        except Died:
            pass
        else:
            break
        world.settle()
        if world.tree.names(znodes.TOPICS):
            delete(world)
        if away is not None:
            world.start(away)
        check_rest(world)
        assert world.tree.names(znodes.TOPICS) == []
    assert writes > 15


@pytest.mark.requirement("LD-56")
def test_a_topic_whose_deletion_was_cut_short_can_be_made_again_only_when_it_is_gone() -> None:
    for writes in count():
        world = MemoryWorld()
        create(world, [[4, 5], [5, 6]])
        try:
            delete(world, writes=writes)
        except Died:
            pass
        else:
            break
        world.settle()
        try:
            create(world, [[6, 5]])
        except Failed as failed:
            assert failed.error is Error.TOPIC_ALREADY_EXISTS
            delete(world)
        check_rest(world)


@pytest.mark.requirement("LD-65", "LD-66")
def test_the_last_partition_of_a_topic_can_be_deleted_alone(world: MemoryWorld) -> None:
    world.alone("t", delete_partition(world.command, "t", 3))
    check_rest(world)
    assert sorted(world.tree.run(read_topic("t")).live) == [0, 1, 2]


@pytest.mark.parametrize("index", [0, 2, 4])
def test_a_partition_that_is_not_the_last_one_stays(world: MemoryWorld, index: int) -> None:
    with pytest.raises(Failed) as caught:
        world.alone("t", delete_partition(world.command, "t", index))
    assert caught.value.error in (Error.INVALID_PARTITIONS, Error.UNKNOWN_TOPIC_OR_PARTITION)
    check_rest(world)


def test_the_only_partition_of_a_topic_is_not_deleted_alone() -> None:
    world = MemoryWorld()
    create(world, [[4, 5]])
    with pytest.raises(Failed, match="delete the topic"):
        world.alone("t", delete_partition(world.command, "t", 0))
    check_rest(world)


@pytest.mark.parametrize("name", ["..", "a/b", ""])
def test_what_can_be_no_topic_is_not_deleted(name: str) -> None:
    world = MemoryWorld()
    for deletion in (delete_topic(world.command, name), delete_partition(world.command, name, 0)):
        with pytest.raises(Failed, match="is no topic name"):
            world.carry_out(deletion)
