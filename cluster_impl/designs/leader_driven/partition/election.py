"""Winning the leadership of a partition, with an epoch that no other leader had ("leaderElection", "getNewEpoch").

/leader goes with the session of the leader, and an epoch stored in it would be forgotten. So the winner first takes its
epoch by compare-and-set on /ISR, which stays, and only then announces it. A winner that dies between two of the writes
leaves a gap in the epochs and does no other harm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from fencepost.cluster_impl.coordination.steps import (
    Absent,
    Create,
    Delete,
    Done,
    Found,
    Get,
    NodeExists,
    SetData,
    Steps,
)
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition.situation import ReplicaAssignment, read_situation
from fencepost.cluster_impl.designs.leader_driven.znodes import NO_EPOCH_YET, IsrState, Leader
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.replication.control_plane import TopicPartition

FIRST_EPOCH = 0


@dataclass(frozen=True, slots=True)
class ElectionWin:
    """A won election. `in_sync` holds the taken epoch and the version of /ISR; its ISR is the last leader's."""

    in_sync: IsrState
    assigned: ReplicaAssignment

    @property
    def epoch(self) -> int:
        return self.in_sync.epoch


class ElectionLoss(Enum):
    """The reason why an election was not won."""

    OTHER_LEADS = "another replica was faster"
    NOT_ELIGIBLE = "it is no longer an in-sync replica, or no longer assigned"
    GONE = "the partition is gone"


def stand(me: int, partition: TopicPartition) -> Steps[ElectionWin | ElectionLoss]:
    """Try to become the leader: create /leader, take the next epoch in /ISR, and write it to /leader.

    Raises MalformedZnode; then /leader is not held either.
    """
    leader = znodes.leader(partition)
    [outcome] = yield [Create(leader, znodes.write_leader(Leader(me, NO_EPOCH_YET)), ephemeral=True)]
    if isinstance(outcome, NodeExists):
        return ElectionLoss.OTHER_LEADS
    if isinstance(outcome, Absent):
        return ElectionLoss.GONE
    try:
        taken = yield from _take_epoch(me, partition)
    except MalformedZnode:
        yield from give_up(partition)
        raise
    if isinstance(taken, ElectionLoss):
        yield from give_up(partition)
        return taken
    [outcome] = yield [SetData(leader, znodes.write_leader(Leader(me, taken.epoch)), version=0)]
    return taken if isinstance(outcome, Done) else ElectionLoss.OTHER_LEADS


def _take_epoch(me: int, partition: TopicPartition) -> Steps[ElectionWin | ElectionLoss]:
    """Write the next epoch to /ISR. Retry while the last leader may still change the ISR, until its session has
    ended."""
    path = znodes.isr(partition)
    while True:
        now = yield from read_situation(partition, watch=False)
        if not now.assigned.members:
            return ElectionLoss.GONE
        if not now.is_eligible(me):
            return ElectionLoss.NOT_ELIGIBLE
        if now.in_sync is None:
            taken = IsrState((), FIRST_EPOCH)
            [outcome] = yield [Create(path, znodes.write_isr(taken))]
        else:
            taken = IsrState(now.in_sync.isr, now.in_sync.epoch + 1)
            [outcome] = yield [SetData(path, znodes.write_isr(taken), now.in_sync.version)]
        if isinstance(outcome, Done):
            return ElectionWin(replace(taken, version=outcome.version), now.assigned)
        if isinstance(outcome, Absent) and now.in_sync is None:
            return ElectionLoss.GONE


def give_up(partition: TopicPartition) -> Steps[None]:
    """Delete /leader if it belongs to this session, so that the others elect. The leader must have stopped before."""
    path = znodes.leader(partition)
    [found] = yield [Get(path)]
    if isinstance(found, Found) and found.stat.is_own:
        yield [Delete(path, found.stat.version)]
