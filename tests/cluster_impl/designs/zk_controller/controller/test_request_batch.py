from __future__ import annotations

from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext, RegisteredBroker
from fencepost.cluster_impl.designs.zk_controller.controller.state.request_batch import RequestBatch
from fencepost.cluster_impl.designs.zk_controller.znodes import (
    BrokerEndpoint,
    BrokerInfo,
    LeaderAndIsr,
    PartitionReplicas,
)
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
TOPIC_ID = UUID(int=5)


@pytest.fixture
def context() -> ControllerContext:
    """t-0 on 1, 2 and 3, led by 1; t-1 on 1 and 2 without a state; 3 is registered and not live."""
    context = ControllerContext(epoch=7)
    for broker_id in (1, 2, 3):
        at = (
            BrokerEndpoint("CLIENT", f"client-{broker_id}", 9092, "SASL_PLAINTEXT"),
            BrokerEndpoint("INTERNAL", f"node-{broker_id}", 9090, "PLAINTEXT"),
        )
        context.registered[broker_id] = RegisteredBroker(
            broker_id, 100 + broker_id, BrokerInfo(5, at, 0, f"r{broker_id}")
        )
    context.live = {1: 101, 2: 102}
    context.add_topic("t", TOPIC_ID)
    context.assign(T0, PartitionReplicas((1, 2, 3), adding=(3,)))
    context.assign(T1, PartitionReplicas((1, 2)))
    context.leadership[T0] = LeaderAndIsr(1, 4, (1, 2), 6, version=9)
    return context


@pytest.fixture
def batch(context: ControllerContext) -> RequestBatch:
    return RequestBatch(context, 2, "INTERNAL")


def of(batch: RequestBatch, broker_id: int) -> list[Message]:
    return [each for id, each in batch.drain() if id == broker_id]


@pytest.mark.requirement("INT-22")
def test_leader_and_isr_says_everything_about_a_partition(batch: RequestBatch) -> None:
    batch.leader_and_isr([2], T0, is_new=True)
    assignments, metadata = of(batch, 2)
    state = m.LeaderAndIsrRequest.LeaderAndIsrPartitionState(
        partition_index=0,
        controller_epoch=6,
        leader=1,
        leader_epoch=4,
        isr=[1, 2],
        partition_epoch=9,
        replicas=[1, 2, 3],
        adding_replicas=[3],
        removing_replicas=[],
        is_new=True,
    )
    assert assignments == m.LeaderAndIsrRequest(
        controller_id=2,
        controller_epoch=7,
        broker_epoch=102,
        type=1,
        topic_states=[
            m.LeaderAndIsrRequest.LeaderAndIsrTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=[state])
        ],
        live_leaders=[m.LeaderAndIsrRequest.LeaderAndIsrLiveLeader(broker_id=1, host_name="node-1", port=9090)],
    )
    assert isinstance(metadata, m.UpdateMetadataRequest)


@pytest.mark.requirement("INT-23", "DINT-26")
def test_update_metadata_says_which_brokers_live_with_epochs_and_offline_replicas(batch: RequestBatch) -> None:
    batch.update_metadata([T0])
    [metadata] = of(batch, 1)
    assert isinstance(metadata, m.UpdateMetadataRequest)
    assert (metadata.broker_epoch, metadata.controller_epoch, metadata.type) == (101, 7, 1)
    assert [(each.id, each.broker_epoch, each.rack) for each in metadata.live_brokers] == [
        (1, 101, "r1"),
        (2, 102, "r2"),
    ]
    assert [(at.listener, at.host, at.security_protocol) for at in metadata.live_brokers[0].endpoints] == [
        ("CLIENT", "client-1", 2),
        ("INTERNAL", "node-1", 0),
    ]
    [topic] = metadata.topic_states
    assert (topic.topic_name, topic.topic_id) == ("t", TOPIC_ID)
    [state] = topic.partition_states
    assert (state.leader, state.leader_epoch, state.isr, state.zk_version) == (1, 4, [1, 2], 9)
    assert (state.replicas, state.offline_replicas) == ([1, 2, 3], [3])


def test_a_broker_that_is_not_live_gets_nothing(batch: RequestBatch) -> None:
    batch.leader_and_isr([1, 2, 3], T0)
    batch.stop_replica((T0, 3))
    batch.introduce([3])
    assert {id for id, _ in batch.drain()} == {1, 2}


@pytest.mark.requirement("INT-21")
def test_a_broker_hears_once_and_of_the_outcome_only(context: ControllerContext, batch: RequestBatch) -> None:
    batch.leader_and_isr([1, 2], T0, is_new=True)
    batch.leader_and_isr([1, 2], T0)
    context.leadership[T0] = LeaderAndIsr(2, 5, (2,), 7, version=10)
    requests = batch.drain()
    assert [type(each) for id, each in requests if id == 1] == [m.LeaderAndIsrRequest, m.UpdateMetadataRequest]
    assignments = requests[0][1]
    assert isinstance(assignments, m.LeaderAndIsrRequest)
    [state] = assignments.topic_states[0].partition_states
    assert (state.leader, state.leader_epoch, state.is_new) == (2, 5, True)
    assert batch.drain() == []


def test_of_stop_and_follow_the_later_counts(batch: RequestBatch) -> None:
    batch.stop_replica((T0, 1))
    batch.leader_and_isr([1], T0)
    assert [type(each) for each in of(batch, 1)] == [m.LeaderAndIsrRequest, m.UpdateMetadataRequest]
    batch.leader_and_isr([1], T0)
    batch.stop_replica((T0, 1))
    assert [type(each) for each in of(batch, 1)] == [m.UpdateMetadataRequest, m.StopReplicaRequest]


def stop_state(batch: RequestBatch) -> m.StopReplicaRequest.StopReplicaPartitionState:
    [request] = of(batch, 1)
    assert isinstance(request, m.StopReplicaRequest)
    assert (request.controller_epoch, request.broker_epoch) == (7, 101)
    return request.topic_states[0].partition_states[0]


@pytest.mark.requirement("INT-24")
def test_stop_replica_is_at_the_leader_epoch_or_at_none_while_the_topic_is_deleted(
    context: ControllerContext, batch: RequestBatch
) -> None:
    batch.stop_replica((T0, 1))
    state = stop_state(batch)
    assert (state.leader_epoch, state.delete_partition) == (4, False)
    batch.stop_replica((T1, 1), delete=True)
    state = stop_state(batch)
    assert (state.leader_epoch, state.delete_partition) == (-1, True)
    context.deletion_begun.add("t")
    batch.stop_replica((T0, 1), delete=True)
    batch.stop_replica((T0, 1))
    state = stop_state(batch)
    assert (state.leader_epoch, state.delete_partition) == (-2, True)


def test_a_partition_without_a_leader_yet_is_sent_to_no_broker(batch: RequestBatch) -> None:
    batch.leader_and_isr([1], T1)
    assignments, metadata = of(batch, 1)
    assert isinstance(assignments, m.LeaderAndIsrRequest)
    assert isinstance(metadata, m.UpdateMetadataRequest)
    assert (assignments.topic_states, metadata.topic_states) == ([], [])


@pytest.mark.requirement("INT-25")
def test_an_introduced_broker_gets_all_metadata_first_and_then_all_that_it_holds(
    context: ControllerContext, batch: RequestBatch
) -> None:
    context.leadership[T1] = LeaderAndIsr(2, 0, (2,), 7)
    batch.update_metadata()
    batch.introduce([2])
    batch.leader_and_isr([2], T0)
    batch.leader_and_isr([2], T1)
    requests = batch.drain()
    metadata, assignments = (each for id, each in requests if id == 2)
    assert isinstance(metadata, m.UpdateMetadataRequest)
    assert isinstance(assignments, m.LeaderAndIsrRequest)
    assert (metadata.type, assignments.type) == (2, 2)
    assert len(metadata.topic_states[0].partition_states) == 2
    [(_, other)] = [(id, each) for id, each in requests if id == 1]
    assert isinstance(other, m.UpdateMetadataRequest)
    assert other.type == 1


def test_an_introduced_broker_gets_no_complete_request_while_a_state_cannot_be_read(batch: RequestBatch) -> None:
    """It would take the replica that is missing for one that it is to remove."""
    batch.introduce([2])
    batch.leader_and_isr([2], T0)
    assignments = next(each for each in of(batch, 2) if isinstance(each, m.LeaderAndIsrRequest))
    assert assignments.type == 1


def test_what_is_said_can_be_encoded_at_the_newest_versions(batch: RequestBatch) -> None:
    batch.introduce([1])
    batch.leader_and_isr([1, 2], T0, is_new=True)
    batch.stop_replica((T1, 2), delete=True)
    for _, request in batch.drain():
        version = type(request).MAX_VERSION
        assert type(request).decode(request.encode(version), version) == request
