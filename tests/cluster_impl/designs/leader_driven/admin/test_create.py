from __future__ import annotations

import logging
from itertools import count

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.creating import (
    MorePartitions,
    NewTopic,
    create_partitions,
    create_topic,
)
from fencepost.cluster_impl.designs.leader_driven.admin.deleting import delete_topic
from fencepost.cluster_impl.designs.leader_driven.admin.reading import read_topic
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.admin.final_state import check_final_state
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import ModelCluster, ProcessDeath


@pytest.fixture
def model() -> ModelCluster:
    return ModelCluster()


def create(model: ModelCluster, new: NewTopic, *, writes: int | None = None) -> list[tuple[int, ...]]:
    return list(model.alone(new.name, create_topic(model.command, new), writes=writes).layout)


def refusal(model: ModelCluster, new: NewTopic) -> RequestError:
    with pytest.raises(RequestError) as caught:
        create(model, new)
    return caught.value


@pytest.mark.requirement("LD-58", "LD-61", "LD-57", "LD-11", "DLD-17")
def test_a_topic_is_made_with_its_settings_on_live_brokers(model: ModelCluster) -> None:
    model.stop(6)
    made = model.alone("t", create_topic(model.command, NewTopic("t", 7, 2, config={"min.insync.replicas": "2"})))
    check_final_state(model)
    topic = model.tree.run(read_topic("t"))
    assert topic.config == {"min.insync.replicas": "2"}
    assert topic.topic_id == made.topic_id
    assert [each.replicas for each in topic.live.values()] == made.layout
    assert all(set(replicas) == {4, 5} for replicas in made.layout)
    assert len({replicas[0] for replicas in made.layout}) == 2


@pytest.mark.requirement("LD-59", "LD-07", "LD-39")
def test_each_replica_is_asked_to_start_at_epoch_minus_one(
    model: ModelCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    create(model, NewTopic("foo", assignment=[[5, 6]]))
    assert [record.getMessage() for record in caplog.records] == [
        "admin, broker id 9, requested start-replica for topic foo partition 0, to broker id 5, at epoch -1",
        "admin, broker id 9, requested start-replica for topic foo partition 0, to broker id 6, at epoch -1",
    ]


@pytest.mark.requirement("LD-59", "LD-60", "LD-61")
def test_a_partition_is_announced_until_every_replica_took_its_request(model: ModelCluster) -> None:
    model.brokers[5].takes_requests = False
    failed = refusal(model, NewTopic("t", assignment=[[4, 5]]))
    assert failed.error is Error.REQUEST_TIMED_OUT
    assert "broker 5 did not take the request" in str(failed)
    partition = TopicPartition("t", 0)
    assert model.tree.data(znodes.reassigned(partition)) == b"[4,5]"
    assert not model.tree.exists(znodes.replicas(partition))
    assert model.now >= model.command.timeout_s


@pytest.mark.requirement("LD-56", "LD-63")
def test_the_next_attempt_cleans_what_a_failed_one_left(model: ModelCluster) -> None:
    model.brokers[5].takes_requests = False
    refusal(model, NewTopic("t", assignment=[[4, 5]]))
    model.brokers[5].takes_requests = True
    assert create(model, NewTopic("t", assignment=[[4, 6]])) == [(4, 6)]
    check_final_state(model)


@pytest.mark.requirement("DLD-50")
def test_an_attempt_is_given_up_before_its_replicas_are_asked_to_close() -> None:
    """A broker that starts in between finds its request or the empty list, so it does not create the replica again."""
    for writes in count():
        model = ModelCluster(timeout_s=0.1)
        for broker in model.brokers.values():
            broker.takes_requests = False
        refusal(model, NewTopic("t", assignment=[[4, 5]]))
        made = model.tree.node(znodes.reassigned(TopicPartition("t", 0)))
        assert made is not None
        try:
            create(model, NewTopic("t", assignment=[[4, 5]]), writes=writes)
        except ProcessDeath:
            pass
        except RequestError:
            break
        path = znodes.reassigned(TopicPartition("t", 0))
        is_asked = any(b"close-replica" in data for data in queued(model, 4))
        is_announced = model.tree.node(path) == made  # as the failed attempt left it
        assert not (is_asked and is_announced)
    assert writes > 8


def queued(model: ModelCluster, broker_id: int) -> list[bytes]:
    return [model.tree.data(znodes.request(broker_id, name)) for name in model.tree.names(znodes.state(broker_id))]


@pytest.mark.requirement("DLD-50")
def test_a_clean_up_waits_for_live_brokers_and_for_no_others(model: ModelCluster) -> None:
    model.brokers[5].takes_requests = False
    refusal(model, NewTopic("t", assignment=[[4, 5]]))
    model.stop(5)
    before = model.now
    create(model, NewTopic("t", assignment=[[4, 6]]))
    assert model.now - before < model.command.timeout_s
    model.brokers[5].takes_requests = True
    model.start(5)
    check_final_state(model)


@pytest.mark.requirement("DLD-50")
def test_an_empty_list_that_a_clean_up_left_makes_every_broker_close(model: ModelCluster) -> None:
    model.brokers[5].takes_requests = False
    refusal(model, NewTopic("t", assignment=[[4, 5]]))
    model.tree.overwrite(znodes.reassigned(TopicPartition("t", 0)), b"[]")  # killed right behind this write
    model.brokers[5].takes_requests = True
    create(model, NewTopic("t", assignment=[[6]]))
    check_final_state(model)


@pytest.mark.requirement("DLD-12")
def test_a_topic_is_not_made_on_a_broker_that_is_gone(model: ModelCluster) -> None:
    model.stop(5)
    assert refusal(model, NewTopic("t", assignment=[[4, 5]])).error is Error.INVALID_REPLICA_ASSIGNMENT
    assert refusal(model, NewTopic("t", 1, 3)).error is Error.INVALID_REPLICATION_FACTOR
    assert model.tree.names(znodes.TOPICS) == []


@pytest.mark.requirement("LD-56")
def test_a_topic_that_lives_is_not_made_again(model: ModelCluster) -> None:
    create(model, NewTopic("t", 2, 2))
    assert refusal(model, NewTopic("t", 2, 2)).error is Error.TOPIC_ALREADY_EXISTS
    check_final_state(model)


@pytest.mark.parametrize(
    "new",
    [
        NewTopic("t", 1, 9),
        NewTopic("t", 0, 1),
        NewTopic("t", assignment=[[9]]),
        NewTopic("t", config={"flush.ms": "1"}),
    ],
)
def test_a_topic_that_lives_is_named_before_other_mistakes_of_its_creation(model: ModelCluster, new: NewTopic) -> None:
    create(model, NewTopic("t"))
    assert refusal(model, new).error is Error.TOPIC_ALREADY_EXISTS


@pytest.mark.requirement("LD-62")
def test_a_creation_of_a_topic_that_lives_disturbs_no_move_and_no_deletion_of_it(model: ModelCluster) -> None:
    create(model, NewTopic("t", assignment=[[4], [5], [6]]))
    for broker in model.brokers.values():
        broker.notices = False
    for index, wanted in enumerate((b"[4]", b"[6]", b"[]")):
        model.tree.create(znodes.reassigned(TopicPartition("t", index)), wanted)
    before = model.tree.data(znodes.replicas(TopicPartition("t", 1)))
    assert refusal(model, NewTopic("t")).error is Error.TOPIC_ALREADY_EXISTS
    assert model.tree.names(znodes.reassigned_topic("t")) == ["1", "2"]
    assert model.tree.data(znodes.replicas(TopicPartition("t", 1))) == before


@pytest.mark.requirement("DLD-42")
def test_a_creation_leaves_what_another_topic_is_in_the_middle_of(model: ModelCluster) -> None:
    model.brokers[4].takes_requests = False
    refusal(model, NewTopic("other", assignment=[[4]]))
    assert create(model, NewTopic("t", assignment=[[5]])) == [(5,)]
    assert model.tree.data(znodes.reassigned(TopicPartition("other", 0))) == b"[4]"


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
def test_what_cannot_be_made_is_refused_and_leaves_nothing(model: ModelCluster, new: NewTopic, error: Error) -> None:
    create(model, NewTopic("old.one"))
    assert refusal(model, new).error is error
    assert model.tree.names(znodes.TOPICS) == ["old.one"]
    check_final_state(model)


@pytest.mark.requirement("LD-56", "LD-60", "LD-63", "DLD-18")
def test_a_creation_killed_after_any_write_is_made_good_by_the_next_one_or_by_a_deletion() -> None:
    new = NewTopic("t", 4, 2)
    for writes in count():
        model = ModelCluster()
        try:
            create(model, new, writes=writes)
        except ProcessDeath:
            pass
        else:
            break
        model.settle()
        lives = bool(model.tree.run(read_topic("t")).live) if model.tree.exists(znodes.TOPICS) else False
        if lives:
            assert refusal(model, new).error is Error.TOPIC_ALREADY_EXISTS
            model.alone("t", delete_topic(model.command, "t"))
            check_final_state(model)
        assert len(create(model, new)) == 4
        check_final_state(model)
    assert writes >= 30


def extend(model: ModelCluster, more: MorePartitions, *, writes: int | None = None) -> dict[int, tuple[int, ...]]:
    return model.alone(more.topic, create_partitions(model.command, more), writes=writes)


def test_partitions_are_added_with_the_factor_of_the_topic(model: ModelCluster) -> None:
    create(model, NewTopic("t", 2, 2))
    added = extend(model, MorePartitions("t", 7))
    assert sorted(added) == [2, 3, 4, 5, 6]
    assert {len(replicas) for replicas in added.values()} == {2}
    check_final_state(model)


def test_partitions_are_added_where_they_are_assigned(model: ModelCluster) -> None:
    create(model, NewTopic("t", 1, 2))
    assert extend(model, MorePartitions("t", 3, [[6, 4], [4, 6]])) == {1: (6, 4), 2: (4, 6)}
    check_final_state(model)


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
def test_partitions_that_cannot_be_added_are_refused(model: ModelCluster, more: MorePartitions, error: Error) -> None:
    create(model, NewTopic("t", 2, 2))
    with pytest.raises(RequestError) as caught:
        extend(model, more)
    assert caught.value.error is error
    check_final_state(model)


def test_an_extension_killed_after_any_write_is_finished_by_the_next_one() -> None:
    for writes in count():
        model = ModelCluster()
        create(model, NewTopic("t", 1, 2))
        try:
            extend(model, MorePartitions("t", 5), writes=writes)
        except ProcessDeath:
            pass
        else:
            break
        model.settle()
        if len(model.tree.run(read_topic("t")).live) < 5:
            extend(model, MorePartitions("t", 5))
        check_final_state(model)
    assert writes > 20
