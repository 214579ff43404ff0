"""DescribeQuorum (55): every controller describes the quorum as it sees it, whether it leads or not.

A controller that does not lead answers NOT_LEADER_OR_FOLLOWER in the partition, as Kafka does, and adds what it knows.
The leader describes each voter and observer with the end of its log, its last fetch, and when it had last caught up
(KIP-836). Brokers are observers (KIP-595). Directory ids are zero: voters here are ids (KIP-853).
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.leadership import Follower
from fencepost.cluster_impl.designs.quorum.raft.metadata_topic import PARTITION, TOPIC
from fencepost.cluster_impl.designs.quorum.raft.translate import LISTENER
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

_UNKNOWN = -1

ReplicaState = m.DescribeQuorumResponse.ReplicaState
PartitionData = m.DescribeQuorumResponse.PartitionData


def describe_quorum(
    request: m.DescribeQuorumRequest, core: RaftCore, now: float, wall: float
) -> m.DescribeQuorumResponse:
    """Return the response. `now` is on the clock of the core, `wall` in seconds since 1970."""
    clock = _Clock(now, wall)
    topics = [
        m.DescribeQuorumResponse.TopicData(
            topic_name=topic.topic_name,
            partitions=[
                _partition(core, clock)
                if (topic.topic_name, each.partition_index) == (TOPIC, PARTITION)
                else _unknown(each.partition_index)
                for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return m.DescribeQuorumResponse(topics=topics, nodes=_nodes(core))


def _unknown(index: int) -> PartitionData:
    return PartitionData(partition_index=index, error_code=Error.UNKNOWN_TOPIC_OR_PARTITION)


def _partition(core: RaftCore, clock: _Clock) -> PartitionData:
    return PartitionData(
        partition_index=PARTITION,
        error_code=Error.NONE if core.leadership else Error.NOT_LEADER_OR_FOLLOWER,
        leader_id=_UNKNOWN if core.leader_id is None else core.leader_id,
        leader_epoch=core.epoch,
        high_watermark=core.log.high_watermark,
        current_voters=_voters(core, clock),
        observers=_observers(core, clock),
    )


@dataclass(frozen=True, slots=True)
class _Clock:
    """One moment on the clock of the core and on the wall's, both in seconds."""

    now: float
    wall: float

    def milliseconds(self, at: float | None) -> int:
        """Return a time of the core's clock in milliseconds since 1970."""
        return _UNKNOWN if at is None else int((self.wall - (self.now - at)) * 1000)


def _voters(core: RaftCore, clock: _Clock) -> list[ReplicaState]:
    return [_voter(core, node_id, clock) for node_id in sorted(core.voters.latest.ids)]


def _observers(core: RaftCore, clock: _Clock) -> list[ReplicaState]:
    """Describe the brokers, and the controllers without a vote, that fetched lately."""
    if core.leadership is None:
        return []
    observers = [*core.leadership.observers.items(), *core.leadership.brokers.items()]
    return [
        _fetcher(node_id, progress, clock)
        for node_id, progress in sorted(observers, key=lambda each: each[0])
        if clock.now - progress.heard_at <= core.settings.fetch_timeout
    ]


def _voter(core: RaftCore, node_id: int, clock: _Clock) -> ReplicaState:
    """Describe one voter: this one by its own log, the others as their leader saw them last."""
    if node_id != core.node_id:
        if core.leadership:
            return _fetcher(node_id, core.leadership.followers[node_id], clock)
        return ReplicaState(replica_id=node_id, log_end_offset=_UNKNOWN)
    replica = ReplicaState(replica_id=node_id, log_end_offset=core.log.end_offset)
    if core.leadership:
        replica.last_fetch_timestamp = replica.last_caught_up_timestamp = clock.milliseconds(clock.now)
    return replica


def _fetcher(node_id: int, progress: Follower, clock: _Clock) -> ReplicaState:
    return ReplicaState(
        replica_id=node_id,
        log_end_offset=progress.end_offset,
        last_fetch_timestamp=clock.milliseconds(progress.heard_at),
        last_caught_up_timestamp=clock.milliseconds(progress.caught_up_at),
    )


def _nodes(core: RaftCore) -> list[m.DescribeQuorumResponse.Node]:
    listener = m.DescribeQuorumResponse.Listener
    return [
        m.DescribeQuorumResponse.Node(node_id=node_id, listeners=[listener(name=LISTENER, host=host, port=port)])
        for node_id, (host, port) in core.voters.latest.addresses.items()
    ]
