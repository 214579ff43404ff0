"""The metadata from UpdateMetadata: brokers, topics and partitions for the client APIs and the followers.

Each request names all live brokers, but only the partitions that changed. The settings of topics come from ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from fencepost.cluster_impl.designs.shared.topic_requests import NO_TOPIC_ID
from fencepost.cluster_impl.designs.zk_controller.control_requests import FULL, LEADER_DURING_DELETE
from fencepost.cluster_impl.replication.control_plane import (
    NO_EPOCH,
    NO_LEADER,
    BrokerView,
    ClusterView,
    Endpoint,
    PartitionView,
    TopicView,
)
from fencepost.cluster_impl.wire import messages as m

PartitionState = m.UpdateMetadataRequest.UpdateMetadataPartitionState


class MetadataCache:
    """The metadata of this broker. Each update replaces `view`, so every view is consistent."""

    def __init__(self, cluster_id: str) -> None:
        self.view = ClusterView(cluster_id, NO_LEADER, {}, {}, broker_configs={})
        self.broker_epochs: Mapping[int, int] = {}
        """Live brokers' incarnations by id. Only their fetches count (decision: credited by identity)."""
        self.known = False
        """True after the first update."""
        self.informed_at = NO_EPOCH
        """The epoch of this broker in the newest update."""

    def update(self, request: m.UpdateMetadataRequest) -> list[TopicView]:
        """Apply a request; return the topics that it names, in their new state."""
        topics = {} if request.type == FULL else dict(self.view.topics)
        named = _by_topic(request)
        for name, (topic_id, states) in named.items():
            _update(topics, self.view.topics.get(name), name, topic_id, states)
        self.view = ClusterView(
            self.view.cluster_id,
            request.controller_id,
            {broker.id: _broker(broker) for broker in request.live_brokers},
            topics,
            self.view.broker_configs,
        )
        self.broker_epochs = {
            broker.id: broker.broker_epoch for broker in request.live_brokers if broker.broker_epoch != NO_EPOCH
        }
        self.known = True
        self.informed_at = request.broker_epoch
        return [topics[name] for name in named if name in topics]

    def configured(self, topic_id: UUID, config: Mapping[str, str]) -> None:
        topics = dict(self.view.topics)
        for topic in self.view.topics.values():
            if topic.topic_id == topic_id:
                topics[topic.name] = TopicView(topic.name, topic_id, topic.partitions, config)
        self.view = replace(self.view, topics=topics)

    def brokers_configured(self, configs: Mapping[str, Mapping[str, str]]) -> None:
        self.view = replace(self.view, broker_configs=configs)


def _by_topic(request: m.UpdateMetadataRequest) -> dict[str, tuple[UUID, list[PartitionState]]]:
    """Group the partitions by topic; before version 5 each partition names its topic."""
    found: dict[str, tuple[UUID, list[PartitionState]]] = {}
    for state in request.ungrouped_partition_states:
        found.setdefault(state.topic_name, (NO_TOPIC_ID, []))[1].append(state)
    for topic in request.topic_states:
        found.setdefault(topic.topic_name, (topic.topic_id, []))[1].extend(topic.partition_states)
    return found


def _update(
    topics: dict[str, TopicView], known: TopicView | None, name: str, topic_id: UUID, states: list[PartitionState]
) -> None:
    """Apply the states of one topic. If it was created again under its name, the earlier topic is dropped."""
    if topic_id == NO_TOPIC_ID and known is not None:
        topic_id = known.topic_id
    before = topics.get(name)
    partitions = dict(before.partitions) if before is not None and before.topic_id == topic_id else {}
    for state in states:
        if state.leader == LEADER_DURING_DELETE:
            partitions.pop(state.partition_index, None)
        else:
            partitions[state.partition_index] = PartitionView(
                replicas=tuple(state.replicas),
                isr=tuple(state.isr),
                leader=state.leader,
                leader_epoch=state.leader_epoch,
                offline_replicas=frozenset(state.offline_replicas),
            )
    if partitions:
        config = known.config if known is not None and known.topic_id == topic_id else {}
        topics[name] = TopicView(name, topic_id, partitions, config)
    else:
        topics.pop(name, None)


def _broker(broker: m.UpdateMetadataRequest.UpdateMetadataBroker) -> BrokerView:
    endpoints = {at.listener: Endpoint(at.host, at.port) for at in broker.endpoints}
    return BrokerView(broker.id, endpoints, broker.rack)
