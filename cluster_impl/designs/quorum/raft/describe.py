"""DescribeQuorum (55): every controller describes the quorum as it sees it, whether it leads or not.

A controller that does not lead answers NOT_LEADER_OR_FOLLOWER in the partition, as Kafka does, and adds what it knows.
"""

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.metadata_topic import PARTITION, TOPIC
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

_UNKNOWN = -1


def describe_quorum(
    request: m.DescribeQuorumRequest, core: RaftCore, now: float, wall: float
) -> m.DescribeQuorumResponse:
    """Return the response. `now` is on the clock of the core, `wall` in seconds since 1970."""
    requested = [
        (topic.topic_name, partition.partition_index) for topic in request.topics for partition in topic.partitions
    ]
    if requested != [(TOPIC, PARTITION)]:
        return m.DescribeQuorumResponse(error_code=Error.INVALID_REQUEST)
    partition = m.DescribeQuorumResponse.PartitionData(
        partition_index=PARTITION,
        error_code=Error.NONE if core.leadership else Error.NOT_LEADER_OR_FOLLOWER,
        leader_id=_UNKNOWN if core.leader_id is None else core.leader_id,
        leader_epoch=core.epoch,
        high_watermark=core.high_watermark,
        current_voters=[_voter(core, node_id, now, wall) for node_id in sorted(core.voters.latest.ids)],
        observers=_observers(core, now, wall),
    )
    topic = m.DescribeQuorumResponse.TopicData(topic_name=TOPIC, partitions=[partition])
    return m.DescribeQuorumResponse(topics=[topic])


def _observers(core: RaftCore, now: float, wall: float) -> list[m.DescribeQuorumResponse.ReplicaState]:
    """Describe the controllers without a vote that fetched lately. Brokers fetch without an id."""
    if core.leadership is None:
        return []
    return [
        m.DescribeQuorumResponse.ReplicaState(
            replica_id=node_id,
            log_end_offset=progress.end_offset,
            last_fetch_timestamp=int((wall - (now - progress.heard_at)) * 1000),
        )
        for node_id, progress in sorted(core.leadership.observers.items())
        if now - progress.heard_at <= core.settings.fetch_timeout
    ]


def _voter(core: RaftCore, node_id: int, now: float, wall: float) -> m.DescribeQuorumResponse.ReplicaState:
    """Describe one voter: this one by its own log, the others as their leader saw them last."""
    replica = m.DescribeQuorumResponse.ReplicaState(replica_id=node_id, log_end_offset=_UNKNOWN)
    if node_id == core.node_id:
        replica.log_end_offset = core.log.end_offset
    elif core.leadership:
        follower = core.leadership.followers[node_id]
        replica.log_end_offset = follower.end_offset
        replica.last_fetch_timestamp = int((wall - (now - follower.heard_at)) * 1000)
    return replica
