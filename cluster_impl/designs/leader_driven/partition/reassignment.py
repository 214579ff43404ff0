"""Moving a partition to other replicas, or deleting it, one step per pass of the commit loop.

Implements "onPartitionsReassigned", "checkReassignedReplicas" and "completePartitionsReassignment". Only this leader's
progress is remembered. Every step can be repeated, and the next leader begins with the first one; it knows that the
switch has happened if AR equals RAR.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

from fencepost.cluster_impl.coordination.steps import Absent, Delete, Done, Exists, Found, Get, SetData, Steps, read
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition.leader_term import LeaderTerm
from fencepost.cluster_impl.designs.leader_driven.partition.situation import ReplicaAssignment
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange
from fencepost.cluster_impl.replication.progress import Progress


class ReassignmentStep(Enum):
    """The steps in their order. Each is reported once it is done."""

    NOTICED = "noticed"
    START_REPLICA_SENT = "start-replica-sent"
    CAUGHT_UP = "caught-up"
    CLOSE_REPLICA_SENT = "close-replica-sent"
    OLD_OUT_OF_ISR = "old-out-of-isr"
    ISR_WRITTEN = "isr-written"
    REPLICAS_WRITTEN = "replicas-written"
    SELF_CLOSE_SENT = "self-close-sent"
    REASSIGNED_DELETED = "reassigned-deleted"
    LEADER_DELETED = "leader-deleted"


@dataclass(slots=True)
class Reassignment:
    """The progress of one leader towards the replicas in `target`; an empty target deletes the partition."""

    target: tuple[int, ...]
    last: ReassignmentStep | None = None
    started: set[int] = field(default_factory=set)
    """Brokers that this leader has sent a start request."""
    closed_since: dict[int, float] = field(default_factory=dict)
    """When this leader saw that a replica had carried out its close request, by broker id."""

    @property
    def is_deletion(self) -> bool:
        return not self.target

    def is_over(self, me: int) -> bool:
        """Return True if nothing is left to do for leader `me`."""
        if self.is_deletion:
            return self.last is ReassignmentStep.CLOSE_REPLICA_SENT
        return self.last is ReassignmentStep.REASSIGNED_DELETED and me == self.target[0]

    def gives_up_leadership(self, me: int) -> bool:
        """Return True if the next step of leader `me` is to delete /leader."""
        return self.last is ReassignmentStep.REASSIGNED_DELETED and me != self.target[0]

    def advance(self, leader_term: LeaderTerm, progress: Progress, now: float) -> Steps[None]:
        """Do the next step if it can be done now. Raises EpochOver, StorageFailed, MalformedZnode."""
        done = yield from (self._delete(leader_term) if self.is_deletion else self._move(leader_term, progress, now))
        if done is not None:
            self._report(leader_term, done)

    def _delete(self, leader_term: LeaderTerm) -> Steps[ReassignmentStep | None]:
        match self.last:
            case None:
                return ReassignmentStep.NOTICED
            case ReassignmentStep.NOTICED:
                # The leader closes last, because that deletes /leader and the next leader would start over.
                # In the middle of a switch the leader may be outside AR.
                if not (yield from _close(leader_term, [*leader_term.others, leader_term.me])):
                    return None
                yield from self._mark_again(leader_term)
                return ReassignmentStep.CLOSE_REPLICA_SENT
        return None

    def _mark_again(self, leader_term: LeaderTerm) -> Steps[None]:
        """Rewrite the empty list, so that its version tells the deleting command that every request is in its queue."""
        path = znodes.reassigned(leader_term.partition)
        [found] = yield [Get(path)]
        if isinstance(found, Found) and not znodes.read_reassigned(leader_term.partition, found.data):
            yield [SetData(path, found.data, found.stat.version)]

    def _move(self, leader_term: LeaderTerm, progress: Progress, now: float) -> Steps[ReassignmentStep | None]:
        me, ar = leader_term.me, leader_term.assigned.replicas
        old = [replica for replica in ar if replica not in self.target and replica != me]
        match self.last:
            case None:
                return ReassignmentStep.NOTICED
            case ReassignmentStep.NOTICED if ar == self.target:
                return (yield from self._clean_up(leader_term))
            case ReassignmentStep.NOTICED:
                return ReassignmentStep.START_REPLICA_SENT if (yield from self._start(leader_term)) else None
            case ReassignmentStep.START_REPLICA_SENT:
                return ReassignmentStep.CAUGHT_UP if self._has_caught_up(leader_term, progress) else None
            case ReassignmentStep.CAUGHT_UP:
                if not (yield from _close(leader_term, old)):
                    return None
                leader_term.leaving = frozenset(old)
                leader_term.lead()
                return ReassignmentStep.CLOSE_REPLICA_SENT
            case ReassignmentStep.CLOSE_REPLICA_SENT:
                yield from self._close_again(leader_term, progress, now)
                return None if set(old) & set(leader_term.in_sync.isr) else ReassignmentStep.OLD_OUT_OF_ISR
            case ReassignmentStep.OLD_OUT_OF_ISR:
                leader_term.successors = frozenset()
                yield from self._close_again(leader_term, progress, now)
                if set(old) & set(leader_term.in_sync.isr) or not self._may_switch(leader_term, progress):
                    return None
                # From here on a replica of RAR stays in the ISR: this leader may be outside RAR, and one of RAR must
                # be able to lead if it fails. The write also settles earlier requests of the data plane.
                leader_term.successors = frozenset(self.target)
                yield from leader_term.write_isr(self._those_of_target_first)
                leader_term.lead()
                return ReassignmentStep.ISR_WRITTEN if self._may_switch(leader_term, progress) else None
            case ReassignmentStep.ISR_WRITTEN if not self._may_switch(leader_term, progress):
                self.last = ReassignmentStep.OLD_OUT_OF_ISR
                return None
            case ReassignmentStep.ISR_WRITTEN:
                came_back = self._came_back(leader_term, progress, now)
                return (yield from self._write_replicas(leader_term, came_back))
            case ReassignmentStep.REPLICAS_WRITTEN if me not in self.target:
                return (yield from self._close_self(leader_term, progress))
            case ReassignmentStep.REPLICAS_WRITTEN | ReassignmentStep.SELF_CLOSE_SENT:
                return (yield from self._clean_up(leader_term))
        return None

    def _start(self, leader_term: LeaderTerm) -> Steps[bool]:
        """Send a start request to each replica of RAR - AR. The commit loop asks silent replicas again."""
        for replica in self.target:
            if replica not in leader_term.assigned.replicas and replica not in self.started:
                if not (yield from leader_term.send(StateChange.START_REPLICA, replica)):
                    return False
                self.started.add(replica)
        return True

    def _close_again(self, leader_term: LeaderTerm, progress: Progress, now: float) -> Steps[None]:
        """Close old replicas that came back.

        Before the switch, AR still lists the old replicas. A replica that restarts after close-replica would rejoin the
        ISR, so close it again.
        """
        came_back = self._came_back(leader_term, progress, now)
        for replica in sorted(leader_term.leaving):
            path = leader_term.close_requests.get(replica)
            if replica in came_back:
                if (yield from leader_term.send(StateChange.CLOSE_REPLICA, replica)):
                    del self.closed_since[replica]
            elif path and replica not in self.closed_since:
                [found] = yield [Exists(path)]
                if isinstance(found, Absent):
                    self.closed_since[replica] = now

    def _came_back(self, leader_term: LeaderTerm, progress: Progress, now: float) -> set[int]:
        """Return the old replicas that have fetched since they were closed."""
        closed = [replica for replica in leader_term.leaving if replica in self.closed_since]
        return {
            replica
            for replica in closed
            if progress.silent_for.get(replica, math.inf) < now - self.closed_since[replica]
        }

    def _has_caught_up(self, leader_term: LeaderTerm, progress: Progress) -> bool:
        """Return True if every replica of RAR is in the ISR and has all committed records."""
        return all(
            replica in leader_term.in_sync.isr and progress.ends.get(replica, -1) >= progress.high_watermark
            for replica in self.target
            if replica != leader_term.me
        )

    def _may_switch(self, leader_term: LeaderTerm, progress: Progress) -> bool:
        is_safe = leader_term.me in self.target or bool(self._successors(leader_term, progress))
        return is_safe and self._has_caught_up(leader_term, progress)

    def _successors(self, leader_term: LeaderTerm, progress: Progress) -> list[int]:
        """Return the replicas of RAR that are in the ISR, have all committed records, and have fetched recently."""
        limit = leader_term.context.config.keep_in_sync
        return [
            replica
            for replica in self.target
            if replica in leader_term.in_sync.isr
            and progress.ends.get(replica, -1) >= progress.high_watermark
            and progress.silent_for.get(replica, math.inf) <= limit
        ]

    def _those_of_target_first(self, isr: tuple[int, ...]) -> list[int]:
        return [
            *(replica for replica in self.target if replica in isr),
            *(replica for replica in isr if replica not in self.target),
        ]

    def _close_self(self, leader_term: LeaderTerm, progress: Progress) -> Steps[ReassignmentStep | None]:
        """Close the leader's own replica once another ISR member has every acknowledged record.

        The leader's log is about to be deleted. So first the leader stops serving and freezes the ISR, then it writes
        the ISR unchanged, which settles pending requests. If a new replica lags by then, the leader serves again and
        retries later.
        """
        if not self._can_be_left(leader_term, progress):
            return None
        leader_term.is_open = False
        leader_term.lead()
        yield from leader_term.write_isr(lambda isr: isr)
        if self._can_be_left(leader_term, progress):
            leader_term.lead()
            if (yield from leader_term.send(StateChange.CLOSE_REPLICA, leader_term.me)):
                return ReassignmentStep.SELF_CLOSE_SENT
        leader_term.is_open = True
        leader_term.lead()
        return None

    def _can_be_left(self, leader_term: LeaderTerm, progress: Progress) -> bool:
        able, live = self._successors(leader_term, progress), leader_term.context.live()
        return bool(able) and all(replica in able for replica in self.target if replica in live)

    def _write_replicas(self, leader_term: LeaderTerm, came_back: set[int]) -> Steps[ReassignmentStep | None]:
        path = znodes.replicas(leader_term.partition)
        found = yield from read(path)
        if not isinstance(found, Found):
            return None
        [outcome] = yield [SetData(path, znodes.write_replicas(self.target), found.stat.version)]
        if not isinstance(outcome, Done):
            return None
        leader_term.leaving = frozenset()
        leader_term.adopt_assigned(ReplicaAssignment(self.target, self.target))
        for replica in came_back:
            leader_term.close_requests.pop(replica, None)
        leader_term.to_close |= came_back
        leader_term.lead()
        return ReassignmentStep.REPLICAS_WRITTEN

    def _clean_up(self, leader_term: LeaderTerm) -> Steps[ReassignmentStep | None]:
        """Delete the znode of the reassignment unless it holds another target by now."""
        path = znodes.reassigned(leader_term.partition)
        [found] = yield [Get(path)]
        if isinstance(found, Found):
            if znodes.read_reassigned(leader_term.partition, found.data) != self.target:
                return None
            yield [Delete(path, found.stat.version, found.stat.czxid)]
        leader_term.assigned = ReplicaAssignment(self.target)
        return ReassignmentStep.REASSIGNED_DELETED

    def finish_closed(self, leader_term: LeaderTerm) -> Steps[None]:
        """Do the steps that follow SELF_CLOSE_SENT; the leader has carried out its own close request."""
        if self.last is ReassignmentStep.SELF_CLOSE_SENT:
            done = yield from self._clean_up(leader_term)
            if done is not None:
                self._report(leader_term, done)

    def left(self, leader_term: LeaderTerm) -> None:
        """Note that /leader is deleted."""
        self._report(leader_term, ReassignmentStep.LEADER_DELETED)

    def _report(self, leader_term: LeaderTerm, done: ReassignmentStep) -> None:
        self.last = done
        leader_term.context.monitor.reassignment(leader_term.partition, done.value, leader_term.epoch)


def _close(leader_term: LeaderTerm, which: list[int]) -> Steps[bool]:
    """Send a close request to each broker that has none yet, and return whether all have one."""
    for replica in which:
        if replica not in leader_term.close_requests and not (
            yield from leader_term.send(StateChange.CLOSE_REPLICA, replica)
        ):
            return False
    return True
