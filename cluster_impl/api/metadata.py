"""Metadata and DescribeCluster: who is there, who leads what, and how to reach them."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from cluster_impl.api.config import ApiConfig
from cluster_impl.api.topics import Administration
from cluster_impl.replication.control_plane import (
    NO_LEADER,
    ClusterView,
    ControlPlane,
    Endpoint,
    PartitionView,
    TopicView,
)
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error
from cluster_impl.wire.server import Request

INTERNAL_TOPICS = frozenset({"__consumer_offsets"})

_ALL_TOPICS_BY_EMPTY_LIST = 0
"""The version of Metadata in which an empty list, not a null one, asks for every topic."""
_NULLABLE_NAME_FROM = 12


Topic = m.MetadataRequest.MetadataRequestTopic


class ClusterDescription:
    """Answers from the control plane's view. Brokers that are not alive, or lack the asking listener, are absent."""

    def __init__(self, control: ControlPlane, administration: Administration, config: ApiConfig) -> None:
        self._control = control
        self._administration = administration
        self._config = config

    async def metadata(self, body: m.MetadataRequest, request: Request) -> m.MetadataResponse:
        asked = _asked(body, request.version)
        await self._control.look(_names(asked))
        cluster = self._control.cluster()
        return m.MetadataResponse(
            brokers=[
                m.MetadataResponse.MetadataResponseBroker(node_id=broker, host=at.host, port=at.port, rack=rack)
                for broker, at, rack in reachable(cluster, request.listener)
            ],
            cluster_id=cluster.cluster_id,
            controller_id=cluster.controller_id,
            topics=list(self._topics(asked, body.allow_auto_topic_creation, request, cluster)),
        )

    def _topics(
        self, asked: list[Topic] | None, may_create: bool, request: Request, cluster: ClusterView
    ) -> Iterable[m.MetadataResponse.MetadataResponseTopic]:
        live = {broker for broker, _, _ in reachable(cluster, request.listener)}
        if asked is None:
            yield from (_topic(topic, live) for topic in cluster.topics.values())
            return
        for one in asked:
            known = cluster.topics.get(one.name) if one.name is not None else _by_id(cluster, one.topic_id)
            if known is not None:
                yield _topic(known, live)
            elif one.name is not None:
                yield self._unknown(one.name, may_create)
            else:
                yield m.MetadataResponse.MetadataResponseTopic(
                    error_code=Error.UNKNOWN_TOPIC_ID,
                    name=None if request.version >= _NULLABLE_NAME_FROM else "",
                    topic_id=one.topic_id,
                )

    def _unknown(self, name: str, may_create: bool) -> m.MetadataResponse.MetadataResponseTopic:
        if may_create and self._config.auto_create_topics:
            error = Error.LEADER_NOT_AVAILABLE
            self._administration.want_topic(name, self._config.num_partitions, self._config.default_replication_factor)
        else:
            error = Error.UNKNOWN_TOPIC_OR_PARTITION
        return m.MetadataResponse.MetadataResponseTopic(error_code=error, name=name)

    async def describe_cluster(self, body: m.DescribeClusterRequest, request: Request) -> m.DescribeClusterResponse:
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
    """Live brokers with their endpoint and rack, as clients of `listener` reach them."""
    return [
        (broker.broker_id, broker.endpoints[listener], broker.rack)
        for broker in cluster.brokers.values()
        if listener in broker.endpoints
    ]


def _asked(body: m.MetadataRequest, version: int) -> list[Topic] | None:
    """None asks for all topics."""
    asks_for_all = not body.topics and version == _ALL_TOPICS_BY_EMPTY_LIST
    return None if asks_for_all else body.topics


def _names(asked: list[Topic] | None) -> list[str] | None:
    """Which topics have to be up to date: all, where one is asked for by its id."""
    names = [topic.name for topic in asked or () if topic.name is not None]
    return names if asked is not None and len(names) == len(asked) else None


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
