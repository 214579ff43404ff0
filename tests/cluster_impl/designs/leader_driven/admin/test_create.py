from __future__ import annotations

import logging
from itertools import count

import pytest

from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.creating import (
    MorePartitions,
    NewTopic,
    create_partitions,
    create_topic,
)
from cluster_impl.designs.leader_driven.admin.deleting import delete_topic
from cluster_impl.designs.leader_driven.admin.reading import read_topic
from cluster_impl.designs.leader_driven.admin.seam import Failed
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.admin.memory_world import Died, MemoryWorld
from tests.cluster_impl.designs.leader_driven.admin.rest import check_rest


@pytest.fixture
def world() -> MemoryWorld:
    return MemoryWorld()


def create(world: MemoryWorld, new: NewTopic, *, writes: int | None = None) -> list[tuple[int, ...]]:
    return list(world.alone(new.name, create_topic(world.command, new), writes=writes).layout)


def refusal(world: MemoryWorld, new: NewTopic) -> Failed:
    with pytest.raises(Failed) as caught:
        create(world, new)
    return caught.value


@pytest.mark.requirement("LD-58", "LD-61", "LD-57", "LD-11", "DLD-17")
def test_a_topic_is_made_with_its_settings_on_live_brokers(world: MemoryWorld) -> None:
    world.stop(6)
    made = world.alone("t", create_topic(world.command, NewTopic("t", 7, 2, config={"min.insync.replicas": "2"})))
    check_rest(world)
    topic = world.tree.run(read_topic("t"))
    assert topic.config == {"min.insync.replicas": "2"}
    assert topic.topic_id == made.topic_id
    assert [each.replicas for each in topic.live.values()] == made.layout
    assert all(set(replicas) == {4, 5} for replicas in made.layout)
    assert len({replicas[0] for replicas in made.layout}) == 2


@pytest.mark.requirement("LD-59", "LD-07", "LD-39")
def test_each_replica_is_asked_to_start_at_epoch_minus_one(
    world: MemoryWorld, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    create(world, NewTopic("foo", assignment=[[5, 6]]))
    assert [record.getMessage() for record in caplog.records] == [
        "admin, broker id 9, requested start-replica for topic foo partition 0, to broker id 5, at epoch -1",
        "admin, broker id 9, requested start-replica for topic foo partition 0, to broker id 6, at epoch -1",
    ]


@pytest.mark.requirement("LD-59", "LD-60", "LD-61")
def test_a_partition_is_announced_until_every_replica_took_its_request(world: MemoryWorld) -> None:
    world.brokers[5].takes_requests = False
    failed = refusal(world, NewTopic("t", assignment=[[4, 5]]))
    assert failed.error is Error.REQUEST_TIMED_OUT
    assert "broker 5 did not take the request" in str(failed)
    partition = TopicPartition("t", 0)
    assert world.tree.data(znodes.reassigned(partition)) == b"[4,5]"
    assert not world.tree.exists(znodes.replicas(partition))
    assert world.now >= world.command.patience


@pytest.mark.requirement("LD-56", "LD-63")
def test_the_next_attempt_cleans_what_a_failed_one_left(world: MemoryWorld) -> None:
    world.brokers[5].takes_requests = False
    refusal(world, NewTopic("t", assignment=[[4, 5]]))
    world.brokers[5].takes_requests = True
    assert create(world, NewTopic("t", assignment=[[4, 6]])) == [(4, 6)]
    check_rest(world)


@pytest.mark.requirement("DLD-50")
def test_an_attempt_is_given_up_before_its_replicas_are_asked_to_close() -> None:
    """A broker that starts in between finds either its request, or the empty list: it never makes the replica again."""
    for writes in count():
        world = MemoryWorld(patience=0.1)
        for broker in world.brokers.values():
            broker.takes_requests = False
        refusal(world, NewTopic("t", assignment=[[4, 5]]))
        made = world.tree.node(znodes.reassigned(TopicPartition("t", 0)))
        assert made is not None
        try:
            create(world, NewTopic("t", assignment=[[4, 5]]), writes=writes)
        except Died:
            pass
        except Failed:
            break
        path = znodes.reassigned(TopicPartition("t", 0))
        is_asked = any(b"close-replica" in data for data in queued(world, 4))
        is_announced = world.tree.node(path) == made  # as the failed attempt left it
        assert not (is_asked and is_announced)
    assert writes > 8


def queued(world: MemoryWorld, broker_id: int) -> list[bytes]:
    return [world.tree.data(znodes.request(broker_id, name)) for name in world.tree.names(znodes.state(broker_id))]


@pytest.mark.requirement("DLD-50")
def test_a_clean_up_waits_for_live_brokers_and_for_no_others(world: MemoryWorld) -> None:
    world.brokers[5].takes_requests = False
    refusal(world, NewTopic("t", assignment=[[4, 5]]))
    world.stop(5)
    before = world.now
    create(world, NewTopic("t", assignment=[[4, 6]]))
    assert world.now - before < world.command.patience
    world.brokers[5].takes_requests = True
    world.start(5)
    check_rest(world)


@pytest.mark.requirement("DLD-50")
def test_an_empty_list_that_a_clean_up_left_makes_every_broker_close(world: MemoryWorld) -> None:
    world.brokers[5].takes_requests = False
    refusal(world, NewTopic("t", assignment=[[4, 5]]))
    world.tree.overwrite(znodes.reassigned(TopicPartition("t", 0)), b"[]")  # killed right behind this write
    world.brokers[5].takes_requests = True
    create(world, NewTopic("t", assignment=[[6]]))
    check_rest(world)


@pytest.mark.requirement("DLD-12")
def test_a_topic_is_not_made_on_a_broker_that_is_gone(world: MemoryWorld) -> None:
    world.stop(5)
    assert refusal(world, NewTopic("t", assignment=[[4, 5]])).error is Error.INVALID_REPLICA_ASSIGNMENT
    assert refusal(world, NewTopic("t", 1, 3)).error is Error.INVALID_REPLICATION_FACTOR
    assert world.tree.names(znodes.TOPICS) == []


@pytest.mark.requirement("LD-56")
def test_a_topic_that_lives_is_not_made_again(world: MemoryWorld) -> None:
    create(world, NewTopic("t", 2, 2))
    assert refusal(world, NewTopic("t", 2, 2)).error is Error.TOPIC_ALREADY_EXISTS
    check_rest(world)


@pytest.mark.requirement("LD-62")
def test_a_creation_of_a_topic_that_lives_disturbs_no_move_and_no_deletion_of_it(world: MemoryWorld) -> None:
    create(world, NewTopic("t", assignment=[[4], [5], [6]]))
    for broker in world.brokers.values():
        broker.notices = False
    for index, wanted in enumerate((b"[4]", b"[6]", b"[]")):
        world.tree.create(znodes.reassigned(TopicPartition("t", index)), wanted)
    before = world.tree.data(znodes.replicas(TopicPartition("t", 1)))
    assert refusal(world, NewTopic("t")).error is Error.TOPIC_ALREADY_EXISTS
    assert world.tree.names(znodes.reassigned_topic("t")) == ["1", "2"]
    assert world.tree.data(znodes.replicas(TopicPartition("t", 1))) == before


@pytest.mark.requirement("DLD-42")
def test_a_creation_leaves_what_another_topic_is_in_the_middle_of(world: MemoryWorld) -> None:
    world.brokers[4].takes_requests = False
    refusal(world, NewTopic("other", assignment=[[4]]))
    assert create(world, NewTopic("t", assignment=[[5]])) == [(5,)]
    assert world.tree.data(znodes.reassigned(TopicPartition("other", 0))) == b"[4]"


@pytest.mark.parametrize(
    ("new", "error"),
    [
        (NewTopic("no name"), Error.INVALID_TOPIC_EXCEPTION),
        (NewTopic("old_one"), Error.INVALID_TOPIC_EXCEPTION),
        (NewTopic("t", 0), Error.INVALID_PARTITIONS),
        (NewTopic("t", 1, 0), Error.INVALID_REPLICATION_FACTOR),
        (NewTopic("t", 1, 4), Error.INVALID_REPLICATION_FACTOR),
        (NewTopic("t", assignment=[[4, 4]]), Error.INVALID_REPLICA_ASSIGNMENT),
        (NewTopic("t", assignment=[[4], []]), Error.INVALID_REPLICA_ASSIGNMENT),
        (NewTopic("t", assignment=[[4], [5, 6]]), Error.INVALID_REPLICA_ASSIGNMENT),
        (NewTopic("t", config={"flush.ms": "1"}), Error.INVALID_CONFIG),
        (NewTopic("t", config={"unclean.leader.election.enable": "true"}), Error.INVALID_CONFIG),
    ],
)
def test_what_cannot_be_made_is_refused_and_leaves_nothing(world: MemoryWorld, new: NewTopic, error: Error) -> None:
    create(world, NewTopic("old.one"))
    assert refusal(world, new).error is error
    assert world.tree.names(znodes.TOPICS) == ["old.one"]
    check_rest(world)


@pytest.mark.requirement("LD-56", "LD-60", "LD-63", "DLD-18")
def test_a_creation_killed_after_any_write_is_made_good_by_the_next_one_or_by_a_deletion() -> None:
    new = NewTopic("t", 4, 2)
    for writes in count():
        world = MemoryWorld()
        try:
            create(world, new, writes=writes)
        except Died:
            pass
        else:
            break
        world.settle()
        lives = bool(world.tree.run(read_topic("t")).live) if world.tree.exists(znodes.TOPICS) else False
        if lives:
            assert refusal(world, new).error is Error.TOPIC_ALREADY_EXISTS
            world.alone("t", delete_topic(world.command, "t"))
            check_rest(world)
        assert len(create(world, new)) == 4
        check_rest(world)
    assert writes >= 30


def extend(world: MemoryWorld, more: MorePartitions, *, writes: int | None = None) -> dict[int, tuple[int, ...]]:
    return world.alone(more.topic, create_partitions(world.command, more), writes=writes)


def test_partitions_are_added_with_the_factor_of_the_topic(world: MemoryWorld) -> None:
    create(world, NewTopic("t", 2, 2))
    added = extend(world, MorePartitions("t", 7))
    assert sorted(added) == [2, 3, 4, 5, 6]
    assert {len(replicas) for replicas in added.values()} == {2}
    check_rest(world)


def test_partitions_are_added_where_they_are_assigned(world: MemoryWorld) -> None:
    create(world, NewTopic("t", 1, 2))
    assert extend(world, MorePartitions("t", 3, [[6, 4], [4, 6]])) == {1: (6, 4), 2: (4, 6)}
    check_rest(world)


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (MorePartitions("none", 3), Error.UNKNOWN_TOPIC_OR_PARTITION),
        (MorePartitions("t", 2), Error.INVALID_PARTITIONS),
        (MorePartitions("t", 1), Error.INVALID_PARTITIONS),
        (MorePartitions("t", 4, [[4, 5]]), Error.INVALID_REPLICA_ASSIGNMENT),
        (MorePartitions("t", 3, [[4]]), Error.INVALID_REPLICA_ASSIGNMENT),
        (MorePartitions("t", 3, [[4, 7]]), Error.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_partitions_that_cannot_be_added_are_refused(world: MemoryWorld, more: MorePartitions, error: Error) -> None:
    create(world, NewTopic("t", 2, 2))
    with pytest.raises(Failed) as caught:
        extend(world, more)
    assert caught.value.error is error
    check_rest(world)


def test_an_extension_killed_after_any_write_is_finished_by_the_next_one() -> None:
    for writes in count():
        world = MemoryWorld()
        create(world, NewTopic("t", 1, 2))
        try:
            extend(world, MorePartitions("t", 5), writes=writes)
        except Died:
            pass
        else:
            break
        world.settle()
        if len(world.tree.run(read_topic("t")).live) < 5:
            extend(world, MorePartitions("t", 5))
        check_rest(world)
    assert writes > 20
