"""The topic of a hosted replica: its id, its settings, and the messages to the data plane that need no leadership."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from fencepost.cluster_impl.coordination.steps import Found
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition.situation import ReplicaAssignment
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.topic_settings import problem_with, usable
from fencepost.cluster_impl.replication.control_plane import (
    NO_LEADER,
    PartitionAssignment,
    ReplicaStopped,
    SettingsChanged,
    TopicPartition,
)

log = logging.getLogger(__name__)


@dataclass(slots=True)
class HostedTopic:
    """`own` are the topic's own settings, which may change; `below` returns the broker's below them."""

    partition: TopicPartition
    topic_id: UUID
    own: Mapping[str, str]
    below: Callable[[], Mapping[str, str]]

    @classmethod
    def of(cls, partition: TopicPartition, znode: Found, below: Callable[[], Mapping[str, str]]) -> HostedTopic:
        """Read the znode of the topic. Raises MalformedZnode."""
        return cls(partition, _topic_id(partition, znode), _own_settings(partition, znode), below)

    @property
    def config(self) -> Mapping[str, str]:
        """The settings that hold now, without defaults."""
        return {**self.below(), **self.own}

    def renew(self, znode: Found) -> bool:
        """Take over the settings of the topic's znode, and return whether they have changed.

        A znode that cannot be read, or that belongs to a later topic of the name, changes nothing.
        """
        if _topic_id(self.partition, znode) != self.topic_id:
            return False
        before = self.own
        try:
            self.own = _own_settings(self.partition, znode)
        except MalformedZnode as error:
            log.error("%s keeps its settings: %s", self.partition, error)
        return self.own != before

    def settings_changed(self) -> SettingsChanged:
        return SettingsChanged(
            topic=self.partition.topic,
            topic_id=self.topic_id,
            partition=self.partition.partition,
            config=self.config,
        )

    def stopped(self) -> ReplicaStopped:
        return ReplicaStopped(topic=self.partition.topic, topic_id=self.topic_id, partition=self.partition.partition)

    def without_leader(self, assigned: ReplicaAssignment, *, is_new: bool) -> PartitionAssignment:
        """Return the assignment that opens a replica which neither leads nor follows ("do local recovery of r's
        log")."""
        return PartitionAssignment(
            topic=self.partition.topic,
            topic_id=self.topic_id,
            partition=self.partition.partition,
            replicas=assigned.members,
            isr=(),
            leader=NO_LEADER,
            leader_epoch=-1,
            leader_term_epoch=-1,
            version=-1,
            config=self.config,
            is_new=is_new,
        )

    def following(self, assigned: ReplicaAssignment, leader: int, in_sync: IsrState) -> PartitionAssignment:
        """Return the assignment of a follower ("becomeFollower").

        The data plane truncates the log to the high watermark and fetches from the leader.
        """
        return PartitionAssignment(
            topic=self.partition.topic,
            topic_id=self.topic_id,
            partition=self.partition.partition,
            replicas=assigned.members,
            isr=in_sync.isr,
            leader=leader,
            leader_epoch=in_sync.epoch,
            leader_term_epoch=in_sync.epoch,
            version=in_sync.version,
            config=self.config,
        )


def _topic_id(partition: TopicPartition, znode: Found) -> UUID:
    return znodes.topic_id(partition.topic, znode.stat.czxid)


def _own_settings(partition: TopicPartition, znode: Found) -> Mapping[str, str]:
    """Raises MalformedZnode."""
    topic = partition.topic
    return usable(f"topic {topic}", znodes.read_topic(topic, znode.data).config, problem_with)
