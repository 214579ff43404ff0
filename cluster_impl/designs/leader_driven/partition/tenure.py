"""What a leader knows from the moment it has its epoch until it leads no more."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.leader_driven.partition import isr_change
from cluster_impl.designs.leader_driven.partition.situation import Assigned
from cluster_impl.designs.leader_driven.partition.surroundings import Surroundings
from cluster_impl.designs.leader_driven.state_changes.queue import NoStateChangeQueue, NotQueued, put
from cluster_impl.designs.leader_driven.state_changes.request import StateChange, StateChangeRequest
from cluster_impl.designs.leader_driven.znodes import InSync
from cluster_impl.replication.control_plane import (
    NO_LEADER,
    IsrProposal,
    PartitionAssignment,
    TopicPartition,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Topic:
    """`config` holds the topic's own settings."""

    topic_id: UUID
    config: Mapping[str, str]


class EpochOver(Exception):
    """Another epoch is written in /ISR, or /ISR is gone: this leader is none any more."""


class StorageFailed(Exception):
    """The data plane cannot use the replica."""


@dataclass(slots=True)
class Tenure:
    around: Surroundings
    partition: TopicPartition
    topic: Topic
    epoch: int
    in_sync: InSync
    assigned: Assigned
    is_open: bool = False
    """Whether clients are served; before that, followers only."""
    leaving: frozenset[int] = frozenset()
    """Replicas of AR that were asked to close by the reassignment under way."""
    heirs: frozenset[int] = frozenset()
    """Replicas of which one stays in the ISR, from right before the switch to them until another one is wanted."""
    to_close: set[int] = field(default_factory=set)
    """Brokers that are named no more and were not asked to close yet."""
    asked_to_close: dict[int, str] = field(default_factory=dict)
    """With the path of the request."""
    asked_to_start: set[int] = field(default_factory=set)
    """Silent ones that were asked once more."""

    @property
    def me(self) -> int:
        return self.around.broker_id

    @property
    def others(self) -> tuple[int, ...]:
        return tuple(each for each in self.assigned.members if each != self.me)

    def allows(self, proposal: IsrProposal) -> bool:
        """Whether the proposal was made in this tenure, by a leader that serves."""
        is_this = (proposal.topic_id, proposal.leader_epoch) == (self.topic.topic_id, self.epoch)
        return is_this and self.is_open

    def leaves_no_heir(self, proposal: IsrProposal) -> bool:
        """Whether nobody would be left in the ISR who may lead next, since the leader is outside the replicas, or about
        to be: what it acknowledged then would go with it."""
        needed = [frozenset(self.assigned.members), self.heirs]
        return any(each and each.isdisjoint(proposal.isr) for each in needed)

    def lead(self) -> None:
        """Hand what is known to the data plane. Raises StorageFailed."""
        members = self.assigned.members
        to = PartitionAssignment(
            topic=self.partition.topic,
            topic_id=self.topic.topic_id,
            partition=self.partition.partition,
            replicas=members if self.me in members else (*members, self.me),
            isr=self.in_sync.isr or (self.me,),
            leader=self.me,
            leader_epoch=self.epoch,
            tenure_epoch=self.epoch,
            version=self.in_sync.version,
            config=self.topic.config,
            serves_clients=self.is_open,
            leaving=self.leaving,
        )
        if self.around.data_plane.apply([to]):
            raise StorageFailed

    def adopt_assigned(self, now: Assigned) -> None:
        """Who is named no more is to be closed, unless it was asked already; who is named again may be started."""
        before = set(self.assigned.members)
        named = set(now.members)
        self.assigned = now
        self.to_close = (self.to_close | (before - named)) - named - set(self.asked_to_close) - {self.me}

    def forget_asked(self) -> None:
        """Another list of replicas is wanted: who was asked to close is asked anew if it comes to that."""
        self.leaving = self.heirs = frozenset()
        for each in self.assigned.members:
            self.asked_to_close.pop(each, None)

    def adopt_isr(self, now: InSync) -> None:
        """Unless it is older: the data plane's changes are written beside those of the leader itself."""
        if (now.epoch, now.version) > (self.in_sync.epoch, self.in_sync.version):
            self.in_sync = now

    def write_isr(self, change: Callable[[tuple[int, ...]], Iterable[int]]) -> Steps[None]:
        """Write what `change` makes of the ISR that is there. The data plane may take members out at the same time, so
        while clients are served nothing may be put in that is not there. Raises EpochOver."""
        written = yield from isr_change.write(self.partition, self.in_sync, change)
        if written is None:
            raise EpochOver
        self.adopt_isr(written)

    def send(self, change: StateChange, to: int) -> Steps[bool]:
        """ "sendStateChange". Whether it needs not be sent again: a full queue is tried again later, and a broker that
        was removed from the cluster has nothing to close."""
        request = StateChangeRequest(change, self.partition, self.epoch, self.me)
        try:
            path = yield from put(request, to, self.around.config.queue_capacity, self.around.monitor)
        except NoStateChangeQueue as error:
            log.warning("%s: %s", self.partition, error)
            if change is StateChange.CLOSE_REPLICA:
                self.asked_to_close[to] = ""
            return change is StateChange.CLOSE_REPLICA
        except NotQueued:
            return False
        if change is StateChange.CLOSE_REPLICA:
            self.asked_to_close[to] = path
            self.to_close.discard(to)
            self.asked_to_start.discard(to)
        else:
            self.asked_to_close.pop(to, None)
        return True


def without_leader(partition: TopicPartition, topic: Topic, assigned: Assigned, *, is_new: bool) -> PartitionAssignment:
    """The replica is opened, and neither leads nor follows ("do local recovery of r's log")."""
    return PartitionAssignment(
        topic=partition.topic,
        topic_id=topic.topic_id,
        partition=partition.partition,
        replicas=assigned.members,
        isr=(),
        leader=NO_LEADER,
        leader_epoch=-1,
        tenure_epoch=-1,
        version=-1,
        config=topic.config,
        is_new=is_new,
    )


def following(
    partition: TopicPartition, topic: Topic, assigned: Assigned, leader: int, in_sync: InSync
) -> PartitionAssignment:
    """ "becomeFollower": cut the log at the high watermark and fetch from the leader, which the data plane does."""
    return PartitionAssignment(
        topic=partition.topic,
        topic_id=topic.topic_id,
        partition=partition.partition,
        replicas=assigned.members,
        isr=in_sync.isr,
        leader=leader,
        leader_epoch=in_sync.epoch,
        tenure_epoch=in_sync.epoch,
        version=in_sync.version,
        config=topic.config,
    )
