from __future__ import annotations

from itertools import count

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.creating import NewTopic, create_topic
from fencepost.cluster_impl.designs.leader_driven.admin.reading import read_topic
from fencepost.cluster_impl.designs.leader_driven.admin.reassigning import Wanted, reassign
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.admin.final_state import check_final_state
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import ModelCluster, ProcessDeath


def made(brokers: tuple[int, ...] = (4, 5, 6)) -> ModelCluster:
    model = ModelCluster(brokers)
    model.alone("t", create_topic(model.command, NewTopic("t", assignment=[[4, 5], [5, 6], [6, 4]])))
    model.settle()
    return model


@pytest.fixture
def model() -> ModelCluster:
    return made()


def move(
    model: ModelCluster, wanted: Wanted, *, same_factor: bool = False, writes: int | None = None
) -> dict[int, RequestError]:
    return model.alone("t", reassign(model.command, "t", wanted, same_factor=same_factor), writes=writes)


@pytest.mark.requirement("LD-14")
def test_the_new_replicas_are_written_down_and_the_leaders_do_the_rest(model: ModelCluster) -> None:
    assert move(model, {0: [6, 4], 2: [5]}) == {}
    assert model.tree.data(znodes.reassigned(TopicPartition("t", 0))) == b"[6,4]"
    check_final_state(model)
    assert [each.replicas for each in model.tree.run(read_topic("t")).live.values()] == [(6, 4), (5, 6), (5,)]


def test_replicas_that_are_as_they_shall_be_are_left_alone(model: ModelCluster) -> None:
    assert move(model, {0: [4, 5]}) == {}
    assert not model.tree.exists(znodes.reassigned_topic("t"))


@pytest.mark.requirement("DLD-30")
@pytest.mark.parametrize(
    ("index", "replicas", "error"),
    [
        (7, [4, 5], Error.UNKNOWN_TOPIC_OR_PARTITION),
        (0, [], Error.INVALID_REPLICA_ASSIGNMENT),
        (0, [4, 4], Error.INVALID_REPLICA_ASSIGNMENT),
        (0, [-1, 4], Error.INVALID_REPLICA_ASSIGNMENT),
        (0, [4, 9], Error.INVALID_REPLICA_ASSIGNMENT),
        (0, None, Error.NO_REASSIGNMENT_IN_PROGRESS),
    ],
)
def test_what_cannot_be_is_refused_and_the_rest_is_done(
    model: ModelCluster, index: int, replicas: list[int] | None, error: Error
) -> None:
    refused = move(model, {index: replicas, 1: [6, 5]})
    assert {index: failed.error for index, failed in refused.items()} == {index: error}
    check_final_state(model)
    assert model.tree.run(read_topic("t")).live[1].replicas == (6, 5)


@pytest.mark.requirement("DLD-30")
def test_a_move_under_way_is_neither_called_off_nor_replaced_only_asked_for_again(model: ModelCluster) -> None:
    model.brokers[4].notices = False
    move(model, {0: [5, 6]})
    assert move(model, {0: None})[0].error is Error.INVALID_REQUEST
    assert move(model, {0: [6, 5]})[0].error is Error.REASSIGNMENT_IN_PROGRESS
    assert move(model, {0: [5, 6]}) == {}
    model.brokers[4].notices = True
    check_final_state(model)
    assert model.tree.run(read_topic("t")).live[0].replicas == (5, 6)


def test_a_partition_that_is_being_deleted_is_not_moved(model: ModelCluster) -> None:
    model.brokers[4].notices = False
    model.tree.create(znodes.reassigned(TopicPartition("t", 0)), b"[]")
    assert move(model, {0: [5, 6]})[0].error is Error.UNKNOWN_TOPIC_OR_PARTITION


def test_a_broker_that_is_gone_takes_no_new_replica_but_may_keep_its_own() -> None:
    model = made((4, 5, 6, 7))
    model.stop(5)
    model.settle()
    assert move(model, {2: [5, 6]})[2].error is Error.INVALID_REPLICA_ASSIGNMENT
    assert move(model, {0: [7, 5]}) == {}


def test_the_number_of_replicas_stays_where_it_must(model: ModelCluster) -> None:
    assert move(model, {0: [4]}, same_factor=True)[0].error is Error.INVALID_REPLICATION_FACTOR
    assert move(model, {0: [4, 6]}, same_factor=True) == {}


def test_a_reassignment_killed_after_any_write_leaves_whole_moves_and_no_other() -> None:
    for writes in count():
        model = made()
        try:
            move(model, {0: [6, 5], 1: [4, 6], 2: [5]}, writes=writes)
        except ProcessDeath:
            pass
        else:
            break
        check_final_state(model)
        assert move(model, {0: [6, 5], 1: [4, 6], 2: [5]}) == {}
        check_final_state(model)
        assert [each.replicas for each in model.tree.run(read_topic("t")).live.values()] == [(6, 5), (4, 6), (5,)]
    assert writes >= 5
