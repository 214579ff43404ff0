"""What ZooKeeper says of a partition at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from cluster_impl.coordination.steps import Exists, Found, Get, Outcome, Steps
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.znodes import InSync, Leader
from cluster_impl.replication.control_plane import TopicPartition


@dataclass(frozen=True, slots=True)
class Assigned:
    """AR and RAR of the document; None where the znode is absent. An empty RAR says that the partition is to be
    deleted."""

    ar: tuple[int, ...] | None = None
    rar: tuple[int, ...] | None = None

    @property
    def replicas(self) -> tuple[int, ...]:
        """AR. While the partition is in the making nothing but RAR is there, and stands for it."""
        return self.ar if self.ar is not None else self.rar or ()

    @property
    def members(self) -> tuple[int, ...]:
        """Whoever may have the replica: those of AR, then those of RAR that are new."""
        return (*self.replicas, *(each for each in self.rar or () if each not in self.replicas))

    @property
    def is_deleted(self) -> bool:
        """Whether it is to be."""
        return self.rar == ()

    @property
    def preferred(self) -> int | None:
        return next(iter(self.replicas), None)


@dataclass(frozen=True, slots=True)
class Situation:
    """`in_sync` is None for a partition that never had a leader; `leads_by_us` says that /leader belongs to the session
    that asked."""

    assigned: Assigned
    in_sync: InSync | None = None
    leader: Leader | None = None
    is_own_leader: bool = False

    @property
    def isr(self) -> tuple[int, ...]:
        return self.in_sync.isr if self.in_sync is not None else ()

    def is_eligible(self, broker_id: int) -> bool:
        """ "leaderElection": r in AR and (ISR is empty or r in ISR). Those of RAR count too, or a leader that dies in
        the middle of the switch to them would leave nobody who may lead."""
        return broker_id in self.assigned.members and (not self.isr or broker_id in self.isr)


def read_situation(of: TopicPartition, *, watch: bool = True) -> Steps[Situation]:
    """With `watch`, the next change of the leader is told ("Leader-change listener"). The leader is read before the
    ISR, so where both belong to one tenure the epoch of the ISR is the leader's, and else a later one. RAR is read
    before AR: who is taken from one list to the other is found in either.

    Raises MalformedZnode.
    """
    watched = [Exists(znodes.leader(of), watch=True)] if watch else []
    paths = [znodes.leader(of), znodes.isr(of), znodes.reassigned(of), znodes.replicas(of)]
    outcomes = yield [*watched, *map(Get, paths)]
    leader, in_sync, rar, ar = outcomes[len(watched) :]
    return Situation(
        _assigned(of, ar, rar),
        znodes.read_isr(of, in_sync.data, in_sync.stat.version) if isinstance(in_sync, Found) else None,
        znodes.read_leader(of, leader.data) if isinstance(leader, Found) else None,
        isinstance(leader, Found) and leader.stat.is_own,
    )


def read_assigned(of: TopicPartition) -> Steps[Assigned]:
    """Raises MalformedZnode."""
    rar, ar = yield [Get(znodes.reassigned(of)), Get(znodes.replicas(of))]
    return _assigned(of, ar, rar)


def _assigned(of: TopicPartition, ar: Outcome, rar: Outcome) -> Assigned:
    return Assigned(
        znodes.read_replicas(of, ar.data) if isinstance(ar, Found) else None,
        znodes.read_reassigned(of, rar.data) if isinstance(rar, Found) else None,
    )
