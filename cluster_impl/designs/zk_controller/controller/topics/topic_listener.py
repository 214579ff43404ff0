"""New topics and partitions in ZooKeeper (Kafka Internals (2017), PartitionStateMachine's listeners).

The children of /brokers/topics are watched for new topics, the data of each /brokers/topics/TOPIC for new partitions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from uuid import UUID

from fencepost.cluster_impl.coordination.steps import Steps, names
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import PartitionState
from fencepost.cluster_impl.designs.zk_controller.controller.topics.topic_znodes import read_topics
from fencepost.cluster_impl.designs.zk_controller.znodes import PartitionReplicas, TopicInfo
from fencepost.cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)


class TopicListener:
    """Applies new topics and partitions. `new_topic_id` makes ids that were never used."""

    def __init__(self, machines: StateMachines, new_topic_id: Callable[[], UUID]) -> None:
        self._machines = machines
        self._context = machines.context
        self.new_topic_id = new_topic_id

    def elected(self) -> Steps[None]:
        """Read all topics and their assignments, with watches; no states yet."""
        listed = yield from names(znodes.TOPICS, watch=True)
        found = yield from read_topics(listed, self.new_topic_id)
        for topic, info in found.items():
            self._adopt(topic, info)

    def list_changed(self) -> Steps[list[str]]:
        """Apply a change of the list of topics; return the new ones. A topic that was removed by hand is dropped."""
        listed = yield from names(znodes.TOPICS, watch=True)
        for topic in [name for name in self._context.assignments if name not in set(listed)]:
            log.warning("topic %s has gone without having been deleted", topic)
            self._context.remove_topic(topic)
        new = [name for name in listed if name not in self._context.assignments]
        yield from self.appeared(new)
        return [name for name in new if name in self._context.assignments]

    def appeared(self, topics: Collection[str]) -> Steps[None]:
        """Give leaders to the partitions of new topics."""
        yield from self._begin((yield from read_topics(topics, self.new_topic_id)))

    def changed(self, topic: str) -> Steps[list[str]]:
        """Apply new partitions after a change of a topic's znode, unless the topic is being deleted.

        Other changes are the controller's own, or are ignored. Return the topic if it is new because it could not be
        read before.
        """
        found = yield from read_topics([topic], self.new_topic_id)
        if topic not in found:
            return []
        if topic not in self._context.assignments:
            yield from self._begin(found)
            return [topic]
        added = {
            index: replicas
            for index, replicas in found[topic].partitions.items()
            if index not in self._context.assignments[topic]
        }
        if added and topic in self._context.to_delete:
            log.warning("partitions were added to topic %s, which is being deleted", topic)
        elif added:
            yield from self._lead(self._assign(topic, added))
        return []

    def _begin(self, found: Mapping[str, TopicInfo]) -> Steps[None]:
        new: list[TopicPartition] = []
        for topic, info in found.items():
            self._adopt(topic, info)
            new += self._context.partitions_of(topic)
        yield from self._lead(new)

    def _adopt(self, topic: str, info: TopicInfo) -> None:
        assert info.topic_id is not None
        self._context.add_topic(topic, info.topic_id)
        self._assign(topic, info.partitions)

    def _assign(self, topic: str, partitions: Mapping[int, PartitionReplicas]) -> list[TopicPartition]:
        for index, replicas in partitions.items():
            self._context.assign(TopicPartition(topic, index), replicas)
        return [TopicPartition(topic, index) for index in partitions]

    def _lead(self, new: Collection[TopicPartition]) -> Steps[None]:
        """Take new partitions and their replicas through the transitions from NonExistent to Online."""
        replicas = [(partition, broker_id) for partition in new for broker_id in self._context.replicas(partition)]
        self._machines.partitions.put(new, PartitionState.NEW)
        self._machines.replicas.start_new(replicas)
        yield from self._machines.partitions.bring_online(new)
        self._machines.replicas.bring_online(replicas)
