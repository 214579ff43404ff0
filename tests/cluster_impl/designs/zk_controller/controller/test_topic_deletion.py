from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.events import BrokerResponse
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.controller.invariants import check_settled
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster, partition

T0 = partition("t-0")


@pytest.fixture
def cluster() -> MemoryCluster:
    cluster = MemoryCluster(brokers=(1, 2, 3))
    cluster.elect()
    cluster.add_topic("t", (1, 2, 3), (2, 3, 1))
    cluster.tree.create(config_znodes.topic_config("t"), config_znodes.write_config({"min.insync.replicas": "2"}))
    cluster.settle()
    cluster.sent.clear()
    return cluster


def traces(cluster: MemoryCluster) -> list[str]:
    return [path for path in cluster.tree.paths() if path.endswith("/t") or "/t/" in path]


@pytest.mark.requirement("INT-24", "INT-36")
def test_a_deleted_topic_leaves_nothing(cluster: MemoryCluster) -> None:
    cluster.delete_topic("t")
    cluster.settle()
    assert traces(cluster) == []
    assert all(not broker.disk.folders and not broker.metadata for broker in cluster.brokers.values())
    check_settled(cluster)


def test_replicas_are_stopped_whatever_leader_epoch_they_are_at(cluster: MemoryCluster) -> None:
    cluster.delete_topic("t")
    cluster.watches()
    stops = [each for _, each in cluster.sent if isinstance(each, m.StopReplicaRequest)]
    states = [state for each in stops for topic in each.topic_states for state in topic.partition_states]
    assert {(each.leader_epoch, each.delete_partition) for each in states} == {(-2, True)}
    metadata = [each for _, each in cluster.sent if isinstance(each, m.UpdateMetadataRequest)]
    removed = [state for each in metadata for topic in each.topic_states for state in topic.partition_states]
    assert {each.leader for each in removed} == {-2}


@pytest.mark.requirement("DINT-23")
def test_deletion_waits_for_a_broker_that_is_away(cluster: MemoryCluster) -> None:
    cluster.kill(3)
    cluster.settle()
    cluster.delete_topic("t")
    cluster.settle()
    assert cluster.tree.exists(znodes.topic("t"))
    assert all(not broker.disk.folders and not broker.metadata for broker in cluster.brokers.values())
    cluster.sent.clear()
    cluster.start(3)
    cluster.settle()
    assert traces(cluster) == []
    assert not cluster.brokers[3].disk.folders
    requests = [each for id, each in cluster.sent if id == 3 and isinstance(each, m.LeaderAndIsrRequest)]
    assert [each.topic_states for each in requests] == [[]], "it must not get what is deleted"


@pytest.mark.requirement("DINT-23")
def test_a_topic_that_is_deleted_and_created_again_has_nothing_of_the_old_one(cluster: MemoryCluster) -> None:
    cluster.kill(3)
    cluster.settle()
    cluster.delete_topic("t")
    cluster.settle()
    cluster.start(3)
    cluster.settle()
    topic_id = cluster.add_topic("t", (3, 2, 1))
    cluster.settle()
    assert cluster.state("t-0").leader_epoch == 0
    assert {broker.disk.folders[T0] for broker in cluster.brokers.values()} == {topic_id}
    check_settled(cluster)


@pytest.mark.requirement("DINT-23")
def test_a_broker_that_missed_deletion_and_creation_keeps_nothing_of_the_old_topic(cluster: MemoryCluster) -> None:
    """It was removed from ZooKeeper by hand while the broker was away, and made anew elsewhere."""
    cluster.kill(3)
    cluster.settle()
    for path in reversed([each for each in cluster.tree.paths() if each.startswith("/brokers/topics/t")]):
        cluster.tree.delete(path)
    cluster.settle()
    cluster.add_topic("t", (1, 2))
    cluster.settle()
    cluster.start(3)
    cluster.settle()
    assert not cluster.brokers[3].disk.folders
    assert cluster.brokers[3].metadata.keys() == {T0}


def test_a_broker_that_dies_before_it_answers_is_asked_again_when_it_is_back(cluster: MemoryCluster) -> None:
    cluster.stalled.add(2)
    cluster.delete_topic("t")
    cluster.settle()
    cluster.kill(2)
    cluster.stalled.clear()
    cluster.settle()
    assert cluster.tree.exists(znodes.topic("t"))
    cluster.start(2)
    cluster.settle()
    assert traces(cluster) == []
    assert not cluster.brokers[2].disk.folders


def test_a_broker_that_cannot_delete_is_asked_again_when_it_is_registered_anew(cluster: MemoryCluster) -> None:
    cluster.brokers[2].failed.add(T0)
    cluster.delete_topic("t")
    cluster.settle()
    assert cluster.tree.exists(znodes.topic_to_delete("t"))
    cluster.bounce(2)
    cluster.settle()
    assert traces(cluster) == []


def test_partitions_that_are_added_to_a_topic_in_deletion_are_not_begun(cluster: MemoryCluster) -> None:
    cluster.kill(3)
    cluster.settle()
    cluster.delete_topic("t")
    cluster.settle()
    cluster.add_partition("t", (1, 2))
    cluster.settle()
    assert not cluster.tree.exists(znodes.state(partition("t-2")))
    assert not cluster.brokers[1].disk.folders
    cluster.start(3)
    cluster.settle()
    assert traces(cluster) == []


def test_a_broker_is_not_asked_to_delete_what_is_known_to_be_in_a_failed_log_dir(cluster: MemoryCluster) -> None:
    cluster.brokers[2].failed.add(T0)
    cluster.notify_log_dir(2)
    cluster.settle()
    cluster.sent.clear()
    cluster.delete_topic("t")
    cluster.settle()
    stops = [each for id, each in cluster.sent if id == 2 and isinstance(each, m.StopReplicaRequest)]
    asked = [state.partition_index for each in stops for topic in each.topic_states for state in topic.partition_states]
    assert asked == [1]


def test_only_the_answer_to_the_request_to_delete_counts(cluster: MemoryCluster) -> None:
    """A replica is stopped, then its topic deleted: the answer to the first request says nothing of the log."""
    cluster.stalled.add(3)
    cluster.ask(m.ControlledShutdownRequest(broker_id=3, broker_epoch=cluster.brokers[3].epoch), version=3)
    cluster.delete_topic("t")
    cluster.settle()
    first = next(each for each in cluster.queues[3] if isinstance(each, m.StopReplicaRequest))
    assert not any(state.delete_partition for topic in first.topic_states for state in topic.partition_states)
    cluster.handle(BrokerResponse(3, first, cluster.brokers[3].answer(first), cluster.now))
    cluster.settle()
    assert cluster.tree.exists(znodes.topic("t"))


def test_an_answer_of_an_earlier_process_does_not_count(cluster: MemoryCluster) -> None:
    cluster.stalled.add(2)
    cluster.delete_topic("t")
    cluster.settle()
    request = next(each for each in cluster.queues[2] if isinstance(each, m.StopReplicaRequest))
    cluster.bounce(2)
    cluster.settle()
    cluster.handle(BrokerResponse(2, request, m.StopReplicaResponse(), cluster.now))
    cluster.settle()
    assert cluster.tree.exists(znodes.topic("t"))


def test_what_is_asked_of_a_topic_that_does_not_exist_is_crossed_out(cluster: MemoryCluster) -> None:
    cluster.delete_topic("x")
    cluster.settle()
    assert cluster.tree.names(znodes.DELETE_TOPICS) == []
    assert cluster.tree.exists(znodes.topic("t"))


def test_without_delete_topic_enable_what_is_asked_is_crossed_out() -> None:
    cluster = MemoryCluster(brokers=(1,), delete_topics=False)
    cluster.elect()
    cluster.add_topic("t", (1,))
    cluster.settle()
    cluster.delete_topic("t")
    cluster.settle()
    assert cluster.tree.names(znodes.DELETE_TOPICS) == []
    assert cluster.state("t-0").leader == 1


def test_a_topic_that_is_deleted_before_the_controller_saw_it_is_deleted_once_it_did(cluster: MemoryCluster) -> None:
    cluster.tree.fired.clear()
    cluster.add_topic("u", (1,))
    seen_later = cluster.tree.fired.copy()
    cluster.tree.fired.clear()
    cluster.delete_topic("u")
    cluster.watches()
    assert cluster.tree.exists(znodes.topic_to_delete("u"))
    cluster.tree.fired.extend(seen_later)
    cluster.settle()
    assert not cluster.tree.exists(znodes.topic("u"))
    assert cluster.tree.names(znodes.DELETE_TOPICS) == []


def delete(cluster: MemoryCluster, *names: str, timeout_ms: int = 5000) -> list[Message]:
    return cluster.ask(m.DeleteTopicsRequest(topic_names=list(names), timeout_ms=timeout_ms), version=5)


def errors(answer: object) -> list[tuple[str | None, int]]:
    assert isinstance(answer, m.DeleteTopicsResponse)
    return [(each.name, each.error_code) for each in answer.responses]


def test_delete_topics_is_answered_when_the_topic_is_gone(cluster: MemoryCluster) -> None:
    answers = delete(cluster, "t")
    assert answers == []
    cluster.settle()
    assert [errors(each) for each in answers] == [[("t", Error.NONE)]]
    assert traces(cluster) == []


def test_delete_topics_says_after_its_timeout_what_still_waits(cluster: MemoryCluster) -> None:
    cluster.kill(3)
    cluster.settle()
    answers = delete(cluster, "t")
    cluster.settle()
    assert answers == []
    cluster.pass_time(5)
    assert [errors(each) for each in answers] == [[("t", Error.REQUEST_TIMED_OUT)]]
    cluster.start(3)
    cluster.settle()
    assert traces(cluster) == []


def test_delete_topics_refuses_each_topic_for_itself(cluster: MemoryCluster) -> None:
    answers = delete(cluster, "x", "t", "t")
    cluster.settle()
    assert [errors(each) for each in answers] == [
        [("x", Error.UNKNOWN_TOPIC_OR_PARTITION), ("t", Error.INVALID_REQUEST), ("t", Error.INVALID_REQUEST)]
    ]


def test_delete_topics_finds_a_topic_by_its_id(cluster: MemoryCluster) -> None:
    topic_id = znodes.read_topic("t", cluster.tree.data(znodes.topic("t"))).topic_id
    named = m.DeleteTopicsRequest.DeleteTopicState
    assert topic_id is not None
    request = m.DeleteTopicsRequest(
        topics=[named(name=None, topic_id=topic_id), named(name="t", topic_id=topic_id)], timeout_ms=1000
    )
    answers = cluster.ask(request, version=6)
    cluster.settle()
    assert [errors(each) for each in answers] == [[("t", Error.NONE), ("t", Error.INVALID_REQUEST)]]


def test_delete_topics_is_refused_where_topics_cannot_be_deleted() -> None:
    cluster = MemoryCluster(brokers=(1,), delete_topics=False)
    cluster.elect()
    assert [errors(each) for each in delete(cluster, "t")] == [[("t", Error.TOPIC_DELETION_DISABLED)]]


def test_delete_topics_is_refused_when_the_controller_resigns_before_the_end(cluster: MemoryCluster) -> None:
    cluster.kill(3)
    cluster.settle()
    answers = delete(cluster, "t")
    cluster.resign()
    assert [errors(each) for each in answers] == [[("t", Error.NOT_CONTROLLER)]]
