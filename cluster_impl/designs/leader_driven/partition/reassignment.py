"""Moving a partition to other replicas, or deleting it, one step for each pass of the commit loop
("onPartitionsReassigned", "checkReassignedReplicas", "completePartitionsReassignment").

Nothing is remembered but how far this leader has come: every step can be done again, and whoever leads next begins with
the first one. What tells it that the switch has happened is that AR equals RAR.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

from cluster_impl.coordination.steps import Absent, Delete, Done, Exists, Found, Get, SetData, Steps, read
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.partition.situation import Assigned
from cluster_impl.designs.leader_driven.partition.tenure import Tenure
from cluster_impl.designs.leader_driven.state_changes.request import StateChange
from cluster_impl.replication.progress import Progress


class Step(Enum):
    """In their order. Each is told once it is done."""

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
    """To `target`, which is empty if the partition is to be deleted."""

    target: tuple[int, ...]
    last: Step | None = None
    started: set[int] = field(default_factory=set)
    """Whom it asked to start."""
    closed_since: dict[int, float] = field(default_factory=dict)
    """When this leader saw that a replica had carried out its close-replica."""

    @property
    def is_deletion(self) -> bool:
        return not self.target

    def is_over(self, me: int) -> bool:
        if self.is_deletion:
            return self.last is Step.CLOSE_REPLICA_SENT
        return self.last is Step.REASSIGNED_DELETED and me == self.target[0]

    def gives_up_leadership(self, me: int) -> bool:
        """Whether what comes next is the deletion of /leader."""
        return self.last is Step.REASSIGNED_DELETED and me != self.target[0]

    def advance(self, tenure: Tenure, progress: Progress, now: float) -> Steps[None]:
        """The next step, if it can be done now. Raises EpochOver, StorageFailed."""
        done = yield from (self._delete(tenure) if self.is_deletion else self._move(tenure, progress, now))
        if done is not None:
            self._tell(tenure, done)

    def _delete(self, tenure: Tenure) -> Steps[Step | None]:
        match self.last:
            case None:
                return Step.NOTICED
            case Step.NOTICED:
                # The leader itself comes last: who closes deletes /leader, and the next leader would begin anew.
                # It may be outside AR, in the middle of a switch.
                if not (yield from _close(tenure, [*tenure.others, tenure.me])):
                    return None
                yield from self._mark_again(tenure)
                return Step.CLOSE_REPLICA_SENT
        return None

    def _mark_again(self, tenure: Tenure) -> Steps[None]:
        """The version of the mark tells the command that waits for the deletion that every request is in its queue."""
        path = znodes.reassigned(tenure.partition)
        [found] = yield [Get(path)]
        if isinstance(found, Found) and not znodes.read_reassigned(tenure.partition, found.data):
            yield [SetData(path, found.data, found.stat.version)]

    def _move(self, tenure: Tenure, progress: Progress, now: float) -> Steps[Step | None]:
        me, ar = tenure.me, tenure.assigned.replicas
        old = [each for each in ar if each not in self.target and each != me]
        match self.last:
            case None:
                return Step.NOTICED
            case Step.NOTICED if ar == self.target:
                return (yield from self._clean_up(tenure))
            case Step.NOTICED:
                return Step.START_REPLICA_SENT if (yield from self._start(tenure)) else None
            case Step.START_REPLICA_SENT:
                return Step.CAUGHT_UP if self._has_caught_up(tenure, progress) else None
            case Step.CAUGHT_UP:
                if not (yield from _close(tenure, old)):
                    return None
                tenure.leaving = frozenset(old)
                tenure.lead()
                return Step.CLOSE_REPLICA_SENT
            case Step.CLOSE_REPLICA_SENT:
                yield from self._close_again(tenure, progress, now)
                return None if set(old) & set(tenure.in_sync.isr) else Step.OLD_OUT_OF_ISR
            case Step.OLD_OUT_OF_ISR:
                tenure.heirs = frozenset()
                yield from self._close_again(tenure, progress, now)
                if set(old) & set(tenure.in_sync.isr) or not self._may_switch(tenure, progress):
                    return None
                # From here on one of RAR stays in the ISR: this leader may be outside RAR, and one of them must be able
                # to lead if it fails. The write settles what the data plane asked for before.
                tenure.heirs = frozenset(self.target)
                yield from tenure.write_isr(self._those_of_target_first)
                tenure.lead()
                return Step.ISR_WRITTEN if self._may_switch(tenure, progress) else None
            case Step.ISR_WRITTEN if not self._may_switch(tenure, progress):
                self.last = Step.OLD_OUT_OF_ISR
                return None
            case Step.ISR_WRITTEN:
                came_back = self._came_back(tenure, progress, now)
                return (yield from self._write_replicas(tenure, came_back))
            case Step.REPLICAS_WRITTEN if me not in self.target:
                return (yield from self._close_self(tenure, progress))
            case Step.REPLICAS_WRITTEN | Step.SELF_CLOSE_SENT:
                return (yield from self._clean_up(tenure))
        return None

    def _start(self, tenure: Tenure) -> Steps[bool]:
        """Ask those of RAR - AR; who is silent later is asked again by the commit loop."""
        for each in self.target:
            if each not in tenure.assigned.replicas and each not in self.started:
                if not (yield from tenure.send(StateChange.START_REPLICA, each)):
                    return False
                self.started.add(each)
        return True

    def _close_again(self, tenure: Tenure, progress: Progress, now: float) -> Steps[None]:
        """Until the switch AR names the old replicas, and one that restarts behind its close-replica is started again
        by that: it would fetch, and stay in the ISR, for good. So who fetches after it has closed is asked again."""
        came_back = self._came_back(tenure, progress, now)
        for each in sorted(tenure.leaving):
            path = tenure.asked_to_close.get(each)
            if each in came_back:
                if (yield from tenure.send(StateChange.CLOSE_REPLICA, each)):
                    del self.closed_since[each]
            elif path and each not in self.closed_since:
                [found] = yield [Exists(path)]
                if isinstance(found, Absent):
                    self.closed_since[each] = now

    def _came_back(self, tenure: Tenure, progress: Progress, now: float) -> set[int]:
        """Old replicas that closed, and have fetched since."""
        closed = [each for each in tenure.leaving if each in self.closed_since]
        return {each for each in closed if progress.silent_for.get(each, math.inf) < now - self.closed_since[each]}

    def _has_caught_up(self, tenure: Tenure, progress: Progress) -> bool:
        """Every replica of RAR has all that is committed, and is counted as in sync."""
        return all(
            each in tenure.in_sync.isr and progress.ends.get(each, -1) >= progress.high_watermark
            for each in self.target
            if each != tenure.me
        )

    def _may_switch(self, tenure: Tenure, progress: Progress) -> bool:
        is_safe = tenure.me in self.target or bool(self._successors(tenure, progress))
        return is_safe and self._has_caught_up(tenure, progress)

    def _successors(self, tenure: Tenure, progress: Progress) -> list[int]:
        """Those of RAR that have all that is committed, and were heard of lately."""
        limit = tenure.around.config.keep_in_sync
        return [
            each
            for each in self.target
            if each in tenure.in_sync.isr
            and progress.ends.get(each, -1) >= progress.high_watermark
            and progress.silent_for.get(each, math.inf) <= limit
        ]

    def _those_of_target_first(self, isr: tuple[int, ...]) -> list[int]:
        return [*(each for each in self.target if each in isr), *(each for each in isr if each not in self.target)]

    def _close_self(self, tenure: Tenure, progress: Progress) -> Steps[Step | None]:
        """The log of this leader goes, so another of the ISR must have all that was ever acknowledged, also at the end.
        First nothing is served and nobody leaves the ISR any more; then the ISR is written as it is, which settles what
        was still asked for. While a new replica lags, it serves on, and looks again."""
        if not self._can_be_left(tenure, progress):
            return None
        tenure.is_open = False
        tenure.lead()
        yield from tenure.write_isr(lambda isr: isr)
        if self._can_be_left(tenure, progress):
            tenure.lead()
            if (yield from tenure.send(StateChange.CLOSE_REPLICA, tenure.me)):
                return Step.SELF_CLOSE_SENT
        tenure.is_open = True
        tenure.lead()
        return None

    def _can_be_left(self, tenure: Tenure, progress: Progress) -> bool:
        able, live = self._successors(tenure, progress), tenure.around.live()
        return bool(able) and all(each in able for each in self.target if each in live)

    def _write_replicas(self, tenure: Tenure, came_back: set[int]) -> Steps[Step | None]:
        path = znodes.replicas(tenure.partition)
        found = yield from read(path)
        if not isinstance(found, Found):
            return None
        [outcome] = yield [SetData(path, znodes.write_replicas(self.target), found.stat.version)]
        if not isinstance(outcome, Done):
            return None
        tenure.leaving = frozenset()
        tenure.adopt_assigned(Assigned(self.target, self.target))
        for each in came_back:
            tenure.asked_to_close.pop(each, None)
        tenure.to_close |= came_back
        tenure.lead()
        return Step.REPLICAS_WRITTEN

    def _clean_up(self, tenure: Tenure) -> Steps[Step | None]:
        """Delete the znode of the reassignment, unless another one is in it by now."""
        path = znodes.reassigned(tenure.partition)
        [found] = yield [Get(path)]
        if isinstance(found, Found):
            if znodes.read_reassigned(tenure.partition, found.data) != self.target:
                return None
            yield [Delete(path, found.stat.version, found.stat.czxid)]
        tenure.assigned = Assigned(self.target)
        return Step.REASSIGNED_DELETED

    def finish_closed(self, tenure: Tenure) -> Steps[None]:
        """The leader carries out its own close-replica before it came to the steps behind that: they follow now."""
        if self.last is Step.SELF_CLOSE_SENT:
            done = yield from self._clean_up(tenure)
            if done is not None:
                self._tell(tenure, done)

    def left(self, tenure: Tenure) -> None:
        """/leader is deleted."""
        self._tell(tenure, Step.LEADER_DELETED)

    def _tell(self, tenure: Tenure, done: Step) -> None:
        self.last = done
        tenure.around.monitor.reassignment(tenure.partition, done.value, tenure.epoch)


def _close(tenure: Tenure, which: list[int]) -> Steps[bool]:
    """Ask each that was not asked yet; whether all are."""
    for each in which:
        if each not in tenure.asked_to_close and not (yield from tenure.send(StateChange.CLOSE_REPLICA, each)):
            return False
    return True
