"""The state of a leader from the moment it has its epoch until it stops leading."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.leader_driven.partition import isr_change
from fencepost.cluster_impl.designs.leader_driven.partition.hosted_topic import HostedTopic
from fencepost.cluster_impl.designs.leader_driven.partition.replica_context import ReplicaContext
from fencepost.cluster_impl.designs.leader_driven.partition.situation import ReplicaAssignment
from fencepost.cluster_impl.designs.leader_driven.state_changes.queue import NoStateChangeQueue, NotQueued, put
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange, StateChangeRequest
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState
from fencepost.cluster_impl.replication.control_plane import IsrProposal, PartitionAssignment, TopicPartition
from fencepost.cluster_impl.replication.progress import Progress

log = logging.getLogger(__name__)


class EpochOver(Exception):
    """/ISR holds another epoch or is gone, so this replica no longer leads."""


class StorageFailed(Exception):
    """The data plane cannot use the replica."""


@dataclass(slots=True)
class LeaderTerm:
    """One leader term: what the leader knows, and how it tells the data plane and other brokers."""

    context: ReplicaContext
    topic: HostedTopic
    epoch: int
    in_sync: IsrState
    assigned: ReplicaAssignment
    is_open: bool = False
    """True if clients are served; before that, the leader serves followers only."""
    leaving: frozenset[int] = frozenset()
    """Replicas of AR that the reassignment under way has asked to close."""
    successors: frozenset[int] = frozenset()
    """Replicas of which at least one stays in the ISR, from just before the switch to them until another target is
    set."""
    to_close: set[int] = field(default_factory=set)
    """Brokers that are no longer assigned and have not been sent a close request."""
    close_requests: dict[int, str] = field(default_factory=dict)
    """The path of the close request sent to each broker; empty for a broker that has no queue."""
    start_requests: set[int] = field(default_factory=set)
    """Silent replicas that were sent a second start request."""

    @property
    def me(self) -> int:
        return self.context.broker_id

    @property
    def partition(self) -> TopicPartition:
        return self.topic.partition

    @property
    def others(self) -> tuple[int, ...]:
        """The assigned replicas other than the leader."""
        return tuple(replica for replica in self.assigned.members if replica != self.me)

    def lagging(self, progress: Progress) -> list[int]:
        """Return the live replicas of AR that have not caught up with the leader's log end.

        "becomeLeader" waits for these, or until KeepInSyncTime is over. Clients are not served meanwhile, so the log
        end stands still. Followers fetch from the leader during the wait and their progress counts; without that, the
        wait of the document could never end early.
        """
        live = self.context.live()
        return [
            replica
            for replica in self.assigned.replicas
            if replica != self.me and replica in live and not _has_caught_up(replica, progress)
        ]

    def first_isr(self, progress: Progress) -> tuple[int, ...]:
        """Return "the current set of replicas in sync with r", the leader included.

        A broker that is not registered is left out: a process that takes its id later may have fewer records.
        """
        live = self.context.live()
        in_sync = tuple(
            replica
            for replica in self.assigned.members
            if replica == self.me or (replica in live and _has_caught_up(replica, progress))
        )
        return in_sync or (self.me,)

    def allows(self, proposal: IsrProposal) -> bool:
        """Return True if the proposal was made in this leader term while clients are served."""
        is_this = (proposal.topic_id, proposal.leader_epoch) == (self.topic.topic_id, self.epoch)
        return is_this and self.is_open

    def leaves_no_successor(self, proposal: IsrProposal) -> bool:
        """Return True if the proposed ISR has no replica that may lead next.

        That matters when the leader is outside the assigned replicas, or about to be: the records that it acknowledged
        with such an ISR would be lost with it.
        """
        needed = [frozenset(self.assigned.members), self.successors]
        return any(group and group.isdisjoint(proposal.isr) for group in needed)

    def lead(self) -> None:
        """Hand the present state to the data plane. Raises StorageFailed."""
        members = self.assigned.members
        to = PartitionAssignment(
            topic=self.partition.topic,
            topic_id=self.topic.topic_id,
            partition=self.partition.partition,
            replicas=members if self.me in members else (*members, self.me),
            isr=self.in_sync.isr or (self.me,),
            leader=self.me,
            leader_epoch=self.epoch,
            leader_term_epoch=self.epoch,
            version=self.in_sync.version,
            config=self.topic.config,
            serves_clients=self.is_open,
            leaving=self.leaving,
        )
        if self.context.data_plane.apply([to]):
            raise StorageFailed

    def adopt_assigned(self, now: ReplicaAssignment) -> None:
        """Take over a new assignment, and note the brokers that must be asked to close their replicas."""
        before = set(self.assigned.members)
        named = set(now.members)
        self.assigned = now
        self.to_close = (self.to_close | (before - named)) - named - set(self.close_requests) - {self.me}

    def forget_requests(self) -> None:
        """Forget sent close requests, because the target replicas have changed; they are sent again where needed."""
        self.leaving = self.successors = frozenset()
        for replica in self.assigned.members:
            self.close_requests.pop(replica, None)

    def adopt_isr(self, now: IsrState) -> None:
        """Take over an ISR unless it is older. The data plane writes the ISR at the same time as the leader."""
        if (now.epoch, now.version) > (self.in_sync.epoch, self.in_sync.version):
            self.in_sync = now

    def write_isr(self, change: Callable[[tuple[int, ...]], Iterable[int]]) -> Steps[None]:
        """Apply `change` to the ISR in ZooKeeper.

        The data plane may remove members at the same time, so while clients are served `change` must not add any.
        Raises EpochOver, MalformedZnode.
        """
        written = yield from isr_change.write(self.partition, self.in_sync, change)
        if written is None:
            raise EpochOver
        self.adopt_isr(written)

    def send(self, change: StateChange, to: int) -> Steps[bool]:
        """Put a request into the queue of broker `to` ("sendStateChange").

        Returns False if it must be sent again later, because the queue is full. A close request to a broker that was
        removed from the cluster counts as sent.
        """
        request = StateChangeRequest(change, self.partition, self.epoch, self.me)
        try:
            path = yield from put(request, to, self.context.config.queue_capacity, self.context.monitor)
        except NoStateChangeQueue as error:
            log.warning("%s: %s", self.partition, error)
            if change is StateChange.CLOSE_REPLICA:
                self.close_requests[to] = ""
            return change is StateChange.CLOSE_REPLICA
        except NotQueued:
            return False
        if change is StateChange.CLOSE_REPLICA:
            self.close_requests[to] = path
            self.to_close.discard(to)
            self.start_requests.discard(to)
        else:
            self.close_requests.pop(to, None)
        return True


def _has_caught_up(replica: int, progress: Progress) -> bool:
    return progress.ends.get(replica, -1) >= progress.log_end_offset
