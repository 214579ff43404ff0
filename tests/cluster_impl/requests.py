"""Requests as clients and followers send them, for tests that look at single answers."""

from __future__ import annotations

from fencepost.cluster_impl.replication.control_plane import PartitionAssignment
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import build
from tests.cluster_impl.static_cluster import Broker, StaticCluster

PRODUCE_VERSION, FETCH_VERSION = 10, 16


def batch(*values: str, producer_id: int = -1, sequence: int = -1) -> bytes:
    return build(
        [(None, value.encode(), 1) for value in values],
        producer_id=producer_id,
        producer_epoch=-1 if producer_id < 0 else 0,
        base_sequence=sequence,
    )


def produce_request(
    records: bytes, topic: str = "t", acks: int = -1, timeout_ms: int = 2000, partition: int = 0
) -> m.ProduceRequest:
    data = m.ProduceRequest.PartitionProduceData(index=partition, records=records)
    return m.ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[m.ProduceRequest.TopicProduceData(name=topic, partition_data=[data])],
    )


def produce(
    cluster: StaticCluster,
    broker: int | Broker,
    records: bytes,
    topic: str = "t",
    acks: int = -1,
    timeout_ms: int = 2000,
) -> m.ProduceResponse.PartitionProduceResponse:
    """The answer of one broker to one batch."""
    request = produce_request(records, topic, acks, timeout_ms)
    return cluster.ask(broker, request, PRODUCE_VERSION).responses[0].partition_responses[0]


def fetch_request(
    of: PartitionAssignment,
    offset: int = 0,
    *,
    replica: tuple[int, int] | None = None,
    leader_epoch: int = -1,
    last_epoch: int = -1,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1_000_000,
) -> m.FetchRequest:
    """A fetch of one partition; `replica` is the broker id and epoch of a follower."""
    partition = m.FetchRequest.FetchPartition(
        partition=of.partition,
        fetch_offset=offset,
        current_leader_epoch=leader_epoch,
        last_fetched_epoch=last_epoch,
        partition_max_bytes=max_bytes,
    )
    state = m.FetchRequest.ReplicaState(replica_id=replica[0], replica_epoch=replica[1]) if replica else None
    request = m.FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        topics=[m.FetchRequest.FetchTopic(topic_id=of.topic_id, partitions=[partition])],
    )
    if state is not None:
        request.replica_state = state
    return request


def fetch(cluster: StaticCluster, broker: int | Broker, request: m.FetchRequest) -> m.FetchResponse.PartitionData:
    """The answer of one broker about the one partition of the request."""
    return cluster.ask(broker, request, FETCH_VERSION).responses[0].partitions[0]
