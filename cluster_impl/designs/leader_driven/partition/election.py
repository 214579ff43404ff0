"""Winning the leadership of a partition, and an epoch that nobody had before ("leaderElection", "getNewEpoch").

/leader goes with the session of the leader, and an epoch in it would be forgotten. So the winner takes its epoch by
compare-and-set on /ISR, which stays, before it says the epoch to anybody: whoever dies between two of the writes has at
most left out an epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from cluster_impl.coordination.steps import Absent, Create, Delete, Done, Found, Get, NodeExists, SetData, Steps
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.partition.situation import Situation, read_situation
from cluster_impl.designs.leader_driven.znodes import NO_EPOCH_YET, InSync, Leader
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.replication.control_plane import TopicPartition

FIRST_EPOCH = 0


@dataclass(frozen=True, slots=True)
class Won:
    """`situation` holds the taken epoch and the ISR's version; the ISR is that of the last leader."""

    situation: Situation
    epoch: int


class NotWon(Enum):
    OTHER_LEADS = "another replica was faster"
    NOT_ELIGIBLE = "it is not in the in-sync replicas, or not assigned, any more"
    GONE = "the partition is gone"


def stand(me: int, partition: TopicPartition) -> Steps[Won | NotWon]:
    """Raises MalformedZnode, after which /leader is not held either."""
    leader = znodes.leader(partition)
    [outcome] = yield [Create(leader, znodes.write_leader(Leader(me, NO_EPOCH_YET)), ephemeral=True)]
    if isinstance(outcome, NodeExists):
        return NotWon.OTHER_LEADS
    if isinstance(outcome, Absent):
        return NotWon.GONE
    try:
        taken = yield from _take_epoch(me, partition)
    except MalformedZnode:
        yield from give_up(partition)
        raise
    if isinstance(taken, NotWon):
        yield from give_up(partition)
        return taken
    assert taken.in_sync is not None
    epoch = taken.in_sync.epoch
    [outcome] = yield [SetData(leader, znodes.write_leader(Leader(me, epoch)), version=0)]
    return Won(taken, epoch) if isinstance(outcome, Done) else NotWon.OTHER_LEADS


def _take_epoch(me: int, partition: TopicPartition) -> Steps[Situation | NotWon]:
    """Repeated where the ISR was changed meanwhile: the last leader may have written it until its session ended."""
    path = znodes.isr(partition)
    while True:
        now = yield from read_situation(partition, watch=False)
        if not now.assigned.members:
            return NotWon.GONE
        if not now.is_eligible(me):
            return NotWon.NOT_ELIGIBLE
        if now.in_sync is None:
            taken = InSync((), FIRST_EPOCH)
            [outcome] = yield [Create(path, znodes.write_isr(taken))]
        else:
            taken = InSync(now.in_sync.isr, now.in_sync.epoch + 1)
            [outcome] = yield [SetData(path, znodes.write_isr(taken), now.in_sync.version)]
        if isinstance(outcome, Done):
            return replace(now, in_sync=replace(taken, version=outcome.version))
        if isinstance(outcome, Absent) and now.in_sync is None:
            return NotWon.GONE


def give_up(partition: TopicPartition) -> Steps[None]:
    """Delete /leader if it is the session's own: the others are to elect. Whoever led has stopped before."""
    path = znodes.leader(partition)
    [found] = yield [Get(path)]
    if isinstance(found, Found) and found.stat.is_own:
        yield [Delete(path, found.stat.version)]
