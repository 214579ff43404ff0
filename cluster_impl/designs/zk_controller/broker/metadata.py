"""What UpdateMetadata has said so far: brokers, topics and partitions, as the client APIs and followers see them.

Live brokers come whole with each request, partitions only where something changed. A topic's own settings are in
ZooKeeper and arrive later, by another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from cluster_impl.replication.control_plane import (
    NO_EPOCH,
    NO_LEADER,
    BrokerView,
    ClusterView,
    Endpoint,
    PartitionView,
    TopicView,
)
from cluster_impl.wire import messages as m

NO_TOPIC_ID = UUID(int=0)
LEADER_DURING_DELETE = -2
"""In place of a leader: the partition's topic is deleted, and is to be forgotten."""
FULL = 2
"""The type of a request that names everything: of LeaderAndIsr all replicas of the broker, of UpdateMetadata all
partitions. What it does not name is gone."""

PartitionState = m.UpdateMetadataRequest.UpdateMetadataPartitionState


class MetadataCache:
    """`view` is replaced, never changed, so whoever holds one has a consistent picture."""

    def __init__(self, cluster_id: str) -> None:
        self.view = ClusterView(cluster_id, NO_LEADER, {}, {})
        self.broker_epochs: Mapping[int, int] = {}
        """The incarnations of live brokers, by id: whose fetches count (decision: credited by identity)."""
        self.known = False
        """Whether anything was told yet."""

    def update(self, request: m.UpdateMetadataRequest) -> list[TopicView]:
        """Adopt a request; the topics that it tells of, as they are now."""
        topics = {} if request.type == FULL else dict(self.view.topics)
        told = _by_topic(request)
        for name, (topic_id, states) in told.items():
            _update(topics, self.view.topics.get(name), name, topic_id, states)
        self.view = ClusterView(
            self.view.cluster_id,
            request.controller_id,
            {broker.id: _broker(broker) for broker in request.live_brokers},
            topics,
        )
        self.broker_epochs = {
            broker.id: broker.broker_epoch for broker in request.live_brokers if broker.broker_epoch != NO_EPOCH
        }
        self.known = True
        return [topics[name] for name in told if name in topics]

    def configured(self, topic_id: UUID, config: Mapping[str, str]) -> None:
        """Take over what ZooKeeper says of a topic's settings."""
        topics = dict(self.view.topics)
        for topic in self.view.topics.values():
            if topic.topic_id == topic_id:
                topics[topic.name] = TopicView(topic.name, topic_id, topic.partitions, config)
        self.view = ClusterView(self.view.cluster_id, self.view.controller_id, self.view.brokers, topics)


def _by_topic(request: m.UpdateMetadataRequest) -> dict[str, tuple[UUID, list[PartitionState]]]:
    """Before version 5 each partition names its topic."""
    found: dict[str, tuple[UUID, list[PartitionState]]] = {}
    for state in request.ungrouped_partition_states:
        found.setdefault(state.topic_name, (NO_TOPIC_ID, []))[1].append(state)
    for topic in request.topic_states:
        found.setdefault(topic.topic_name, (topic.topic_id, []))[1].extend(topic.partition_states)
    return found


def _update(
    topics: dict[str, TopicView], known: TopicView | None, name: str, topic_id: UUID, states: list[PartitionState]
) -> None:
    """Of a topic that was made anew under its name nothing of the earlier one is kept."""
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
