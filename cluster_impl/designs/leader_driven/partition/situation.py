"""The state of a partition in ZooKeeper, as one read found it."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.cluster_impl.coordination.steps import Exists, Found, Get, Outcome, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState, Leader
from fencepost.cluster_impl.replication.control_plane import TopicPartition


@dataclass(frozen=True, slots=True)
class ReplicaAssignment:
    """AR and RAR of the document; None where the znode is absent. An empty RAR means that the partition is being
    deleted."""

    ar: tuple[int, ...] | None = None
    rar: tuple[int, ...] | None = None

    @property
    def replicas(self) -> tuple[int, ...]:
        """AR, or RAR while the partition is being created and has no AR."""
        return self.ar if self.ar is not None else self.rar or ()

    @property
    def members(self) -> tuple[int, ...]:
        """All brokers that may have the replica: those of AR, then those of RAR that are new."""
        return (*self.replicas, *(replica for replica in self.rar or () if replica not in self.replicas))

    @property
    def is_deleted(self) -> bool:
        return self.rar == ()

    @property
    def preferred(self) -> int | None:
        """The preferred replica, or None without replicas."""
        return next(iter(self.replicas), None)


@dataclass(frozen=True, slots=True)
class Situation:
    """The znodes of a partition.

    `in_sync` is None for a partition that never had a leader. `is_own_leader` is True if /leader belongs to the session
    that read it.
    """

    assigned: ReplicaAssignment
    in_sync: IsrState | None = None
    leader: Leader | None = None
    is_own_leader: bool = False

    @property
    def isr(self) -> tuple[int, ...]:
        """The in-sync replicas; empty if the partition never had a leader."""
        return self.in_sync.isr if self.in_sync is not None else ()

    def is_eligible(self, broker_id: int) -> bool:
        """Return True if the broker may stand for election ("leaderElection": r in AR and (ISR is empty or r in ISR)).

        Replicas of RAR count too; otherwise a leader that dies in the middle of the switch to them would leave no
        replica that may lead.
        """
        return broker_id in self.assigned.members and (not self.isr or broker_id in self.isr)


def read_situation(of: TopicPartition, *, watch: bool = True) -> Steps[Situation]:
    """Read the partition; with `watch`, also set a watch on /leader ("Leader-change listener").

    The leader is read before the ISR, so the epoch in /ISR is the leader's or a later one. RAR is read before AR, so a
    replica that moves from one list to the other meanwhile is found in at least one. Raises MalformedZnode.
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


def read_assigned(of: TopicPartition) -> Steps[ReplicaAssignment]:
    """Read RAR, then AR. Raises MalformedZnode."""
    rar, ar = yield [Get(znodes.reassigned(of)), Get(znodes.replicas(of))]
    return _assigned(of, ar, rar)


def _assigned(of: TopicPartition, ar: Outcome, rar: Outcome) -> ReplicaAssignment:
    return ReplicaAssignment(
        znodes.read_replicas(of, ar.data) if isinstance(ar, Found) else None,
        znodes.read_reassigned(of, rar.data) if isinstance(rar, Found) else None,
    )
