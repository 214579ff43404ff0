"""Metadata and DescribeCluster: live brokers with their addresses, topics, and leaders of partitions."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from fencepost.cluster_impl.api.topic_names import problem_with_name
from fencepost.cluster_impl.api.topics import WantedTopics
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import (
    NO_LEADER,
    ClusterView,
    ControlPlane,
    Endpoint,
    PartitionView,
    TopicView,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

INTERNAL_TOPICS = frozenset({"__consumer_offsets"})

_ALL_TOPICS_BY_EMPTY_LIST = 0
"""The version of Metadata in which an empty list, not a null one, asks for every topic."""
_NULLABLE_NAME_FROM = 12
_NO_ID = UUID(int=0)
_BROKERS, _CONTROLLERS = 1, 2
"""The endpoint types of DescribeCluster."""


Topic = m.MetadataRequest.MetadataRequestTopic


class ClusterDescription:
    """Answers from the control plane's view. Brokers that are dead, or without the client's listener, are absent."""

    def __init__(self, control: ControlPlane, wanted: WantedTopics, config: DataPlaneConfig) -> None:
        self._control = control
        self._wanted = wanted
        self._config = config

    async def metadata(self, body: m.MetadataRequest, request: Request) -> m.MetadataResponse:
        requested = _requested(body, request.version)
        await self._control.look(_names(requested))
        cluster = self._control.cluster()
        return m.MetadataResponse(
            brokers=[
                m.MetadataResponse.MetadataResponseBroker(node_id=broker, host=at.host, port=at.port, rack=rack)
                for broker, at, rack in reachable(cluster, request.listener)
            ],
            cluster_id=cluster.cluster_id,
            controller_id=cluster.controller_id,
            topics=list(self._topics(requested, body.allow_auto_topic_creation, request, cluster)),
        )

    def _topics(
        self, requested: list[Topic] | None, may_create: bool, request: Request, cluster: ClusterView
    ) -> Iterable[m.MetadataResponse.MetadataResponseTopic]:
        live = {broker for broker, _, _ in reachable(cluster, request.listener)}
        if requested is None:
            yield from (_topic(topic, live) for topic in cluster.topics.values())
            return
        for one in requested:
            by_id = one.name is None or one.topic_id != _NO_ID
            named = _by_id(cluster, one.topic_id) if by_id else cluster.topics.get(one.name or "")
            if named is not None:
                yield _topic(named, live)
            elif not by_id:
                yield self._unknown(one.name or "", may_create)
            else:
                yield m.MetadataResponse.MetadataResponseTopic(
                    error_code=Error.UNKNOWN_TOPIC_ID,
                    name=None if request.version >= _NULLABLE_NAME_FROM else "",
                    topic_id=one.topic_id,
                )

    def _unknown(self, name: str, may_create: bool) -> m.MetadataResponse.MetadataResponseTopic:
        if problem_with_name(name):
            error = Error.INVALID_TOPIC_EXCEPTION
        elif may_create and self._config.auto_create_topics:
            error = Error.LEADER_NOT_AVAILABLE
            self._wanted.want(name, self._config.topics.partitions, self._config.topics.replication_factor)
        else:
            error = Error.UNKNOWN_TOPIC_OR_PARTITION
        return m.MetadataResponse.MetadataResponseTopic(error_code=error, name=name)

    async def describe_cluster(self, body: m.DescribeClusterRequest, request: Request) -> m.DescribeClusterResponse:
        """Name the brokers; refuse a request for other nodes, which only they could answer (KIP-919)."""
        if body.endpoint_type != _BROKERS:
            error = (
                Error.MISMATCHED_ENDPOINT_TYPE
                if body.endpoint_type == _CONTROLLERS
                else Error.UNSUPPORTED_ENDPOINT_TYPE
            )
            reason = f"This listener is a broker's, and the request is for endpoints of type {body.endpoint_type}."
            return m.DescribeClusterResponse(error_code=error, error_message=reason)
        await self._control.look(())
        cluster = self._control.cluster()
        return m.DescribeClusterResponse(
            cluster_id=cluster.cluster_id,
            controller_id=cluster.controller_id,
            brokers=[
                m.DescribeClusterResponse.DescribeClusterBroker(broker_id=broker, host=at.host, port=at.port, rack=rack)
                for broker, at, rack in reachable(cluster, request.listener)
            ],
        )


def reachable(cluster: ClusterView, listener: str) -> list[tuple[int, Endpoint, str | None]]:
    """Return the live brokers with their endpoint and rack, as clients of `listener` reach them."""
    return [
        (broker.broker_id, broker.endpoints[listener], broker.rack)
        for broker in cluster.brokers.values()
        if listener in broker.endpoints
    ]


def _requested(body: m.MetadataRequest, version: int) -> list[Topic] | None:
    """Return the requested topics, each once; None if the request asks for all of them."""
    if body.topics is None or (not body.topics and version == _ALL_TOPICS_BY_EMPTY_LIST):
        return None
    return list({(topic.name, topic.topic_id): topic for topic in body.topics}.values())


def _names(requested: list[Topic] | None) -> list[str] | None:
    """Return the names of the topics to bring up to date; None for all, if one is requested by its id."""
    names = [topic.name for topic in requested or () if topic.name is not None]
    return names if requested is not None and len(names) == len(requested) else None


def _by_id(cluster: ClusterView, topic_id: UUID) -> TopicView | None:
    return next((topic for topic in cluster.topics.values() if topic.topic_id == topic_id), None)


def _topic(topic: TopicView, live: set[int]) -> m.MetadataResponse.MetadataResponseTopic:
    return m.MetadataResponse.MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[_partition(index, state, live) for index, state in sorted(topic.partitions.items())],
    )


def _partition(index: int, state: PartitionView, live: set[int]) -> m.MetadataResponse.MetadataResponsePartition:
    leader = state.leader if state.leader in live else NO_LEADER
    return m.MetadataResponse.MetadataResponsePartition(
        error_code=Error.LEADER_NOT_AVAILABLE if leader == NO_LEADER else Error.NONE,
        partition_index=index,
        leader_id=leader,
        leader_epoch=state.leader_epoch,
        replica_nodes=list(state.replicas),
        isr_nodes=list(state.isr),
        offline_replicas=[
            replica for replica in state.replicas if replica not in live or replica in state.offline_replicas
        ],
    )
