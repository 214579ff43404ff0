from __future__ import annotations

import logging
from itertools import count

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.creating import NewTopic, create_topic
from fencepost.cluster_impl.designs.leader_driven.admin.deleting import delete_partition, delete_topic
from fencepost.cluster_impl.designs.leader_driven.admin.reading import read_topic
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.admin.final_state import check_final_state
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import ModelCluster, ProcessDeath

T0 = TopicPartition("t", 0)


@pytest.fixture
def model() -> ModelCluster:
    model = ModelCluster()
    create(model, [[4, 5, 6], [5, 6, 4], [6, 4, 5], [4, 6, 5]])
    return model


def create(model: ModelCluster, assignment: list[list[int]]) -> None:
    model.alone("t", create_topic(model.command, NewTopic("t", assignment=assignment)))
    model.settle()


def delete(model: ModelCluster, *, writes: int | None = None) -> None:
    model.alone("t", delete_topic(model.command, "t"), writes=writes)


def refusal(model: ModelCluster) -> RequestError:
    with pytest.raises(RequestError) as caught:
        delete(model)
    return caught.value


@pytest.mark.requirement("LD-64", "LD-65", "LD-66", "LD-38")
def test_a_topic_is_deleted_by_its_leaders(model: ModelCluster, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "state.change")
    delete(model)
    check_final_state(model)
    assert model.tree.names(znodes.TOPICS) == model.tree.names(znodes.REASSIGNED) == []
    assert not [record for record in caplog.records if "close-replica" in record.getMessage()]  # theirs to ask


@pytest.mark.requirement("DLD-29")
def test_without_a_leader_the_command_asks_every_replica_to_close(
    model: ModelCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    for broker_id in model.brokers:
        model.stop(broker_id)
    delete(model)
    assert model.tree.names(znodes.TOPICS) == model.tree.names(znodes.REASSIGNED) == []
    said = "admin, broker id 9, requested close-replica for topic t partition 0, to broker id 5, at epoch -1"
    assert said in [record.getMessage() for record in caplog.records]
    for broker_id in model.brokers:
        model.start(broker_id)
    check_final_state(model)


@pytest.mark.requirement("DLD-12", "LD-04")
def test_a_broker_that_is_away_closes_its_replicas_when_it_is_back(model: ModelCluster) -> None:
    model.stop(5)
    model.settle()
    delete(model)
    assert model.tree.names(znodes.TOPICS) == []
    assert len(model.tree.names(znodes.state(5))) == 4
    assert model.brokers[5].hosted
    model.start(5)
    assert model.brokers[5].hosted == set()
    check_final_state(model)


@pytest.mark.requirement("LD-65", "DLD-12")
def test_a_broker_that_ends_while_it_is_waited_for_is_waited_for_no_more(model: ModelCluster) -> None:
    model.brokers[6].takes_requests = False
    model.tree.delete(znodes.leader(TopicPartition("t", 2)))  # or it would lead and never close
    model.brokers[6].hosted.discard(TopicPartition("t", 2))
    model.settle()
    act = model.act

    def end_soon() -> bool:
        if model.now > 0.2 and model.brokers[6].is_up:
            model.stop(6)
        return act() or model.brokers[6].is_up

    model.act = end_soon  # type: ignore[method-assign]
    delete(model)
    model.act = act  # type: ignore[method-assign]
    assert model.tree.names(znodes.TOPICS) == []
    assert model.tree.names(znodes.state(6)) != []


@pytest.mark.requirement("LD-65", "LD-64")
def test_a_deletion_that_a_live_broker_does_not_follow_fails_and_is_finished_by_the_next(model: ModelCluster) -> None:
    model.brokers[5].takes_requests = False
    failed = refusal(model)
    assert failed.error is Error.REQUEST_TIMED_OUT
    assert "broker 5" in str(failed)
    assert model.tree.data(znodes.reassigned(T0)) == b"[]"
    assert model.tree.exists(znodes.topic("t"))
    assert model.tree.names(znodes.ADMIN) == []
    model.brokers[5].takes_requests = True
    delete(model)
    check_final_state(model)
    assert model.tree.names(znodes.TOPICS) == []


@pytest.mark.requirement("LD-65")
def test_a_leader_that_does_not_notice_fails_the_deletion(model: ModelCluster) -> None:
    for broker in model.brokers.values():
        broker.notices = False
    assert "still leads" in str(refusal(model))


@pytest.mark.requirement("DLD-29")
def test_a_leader_that_ends_before_it_asked_anybody_is_made_up_for(model: ModelCluster) -> None:
    """Its /leader goes without a sign that it saw the list: the command asks every replica, the old leader too."""
    act = model.act

    def end_with_the_list_unread() -> bool:
        for broker in model.brokers.values():
            broker.stands = False
        model.stop(4)
        model.act = act  # type: ignore[method-assign]
        return True

    model.act = end_with_the_list_unread  # type: ignore[method-assign]
    delete(model)
    assert model.tree.names(znodes.TOPICS) == []
    assert model.brokers[5].hosted == model.brokers[6].hosted == set()
    model.start(4)
    assert model.brokers[4].hosted == set()


def test_a_topic_is_deleted_in_the_middle_of_a_move_with_the_replicas_that_were_new(model: ModelCluster) -> None:
    model.tree.overwrite(znodes.replicas(T0), b"[4,5]")
    model.brokers[4].notices = False
    model.tree.create(znodes.reassigned(T0), b"[5,6]")  # broker 6 has its replica already
    model.brokers[4].notices = True
    # The leader gets no turn before the command writes its empty list.
    delete(model)
    check_final_state(model)
    assert model.tree.names(znodes.TOPICS) == []


def test_what_does_not_exist_cannot_be_deleted(model: ModelCluster) -> None:
    delete(model)
    assert refusal(model).error is Error.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.requirement("LD-64", "LD-66", "DLD-29")
@pytest.mark.parametrize("away", [None, 4, 5])
def test_a_deletion_killed_after_any_write_is_finished_by_the_next_one(away: int | None) -> None:
    for writes in count():
        model = ModelCluster()
        create(model, [[4, 5], [5, 6], [6, 4], [4, 6]])
        if away is not None:
            model.stop(away)
            model.settle()
        try:
            delete(model, writes=writes)
        except ProcessDeath:
            pass
        else:
            break
        model.settle()
        if model.tree.names(znodes.TOPICS):
            delete(model)
        if away is not None:
            model.start(away)
        check_final_state(model)
        assert model.tree.names(znodes.TOPICS) == []
    assert writes > 15


@pytest.mark.requirement("LD-56")
def test_a_topic_whose_deletion_was_cut_short_can_be_made_again_only_when_it_is_gone() -> None:
    for writes in count():
        model = ModelCluster()
        create(model, [[4, 5], [5, 6]])
        try:
            delete(model, writes=writes)
        except ProcessDeath:
            pass
        else:
            break
        model.settle()
        try:
            create(model, [[6, 5]])
        except RequestError as failed:
            assert failed.error is Error.TOPIC_ALREADY_EXISTS
            delete(model)
        check_final_state(model)


@pytest.mark.requirement("LD-65", "LD-66")
def test_the_last_partition_of_a_topic_can_be_deleted_alone(model: ModelCluster) -> None:
    model.alone("t", delete_partition(model.command, "t", 3))
    check_final_state(model)
    assert sorted(model.tree.run(read_topic("t")).live) == [0, 1, 2]


@pytest.mark.parametrize("index", [0, 2, 4])
def test_a_partition_that_is_not_the_last_one_stays(model: ModelCluster, index: int) -> None:
    with pytest.raises(RequestError) as caught:
        model.alone("t", delete_partition(model.command, "t", index))
    assert caught.value.error in (Error.INVALID_PARTITIONS, Error.UNKNOWN_TOPIC_OR_PARTITION)
    check_final_state(model)


def test_the_only_partition_of_a_topic_is_not_deleted_alone() -> None:
    model = ModelCluster()
    create(model, [[4, 5]])
    with pytest.raises(RequestError, match="delete the topic"):
        model.alone("t", delete_partition(model.command, "t", 0))
    check_final_state(model)


@pytest.mark.parametrize("name", ["..", "a/b", ""])
def test_what_can_be_no_topic_is_not_deleted(name: str) -> None:
    model = ModelCluster()
    for deletion in (delete_topic(model.command, name), delete_partition(model.command, name, 0)):
        with pytest.raises(RequestError, match="is not a topic name"):
            model.carry_out(deletion)
