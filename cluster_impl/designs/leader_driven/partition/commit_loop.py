"""One pass of the part of the commit loop that concerns the control plane ("Commit thread on the leader").

High watermark, acknowledgements, and who leaves or joins the ISR are the data plane's. What is left runs on a tick
too, not only behind a produce request: a partition without traffic is reassigned and balanced as well.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import Enum, auto

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.leader_driven.partition.balancing import Balancing
from cluster_impl.designs.leader_driven.partition.reassignment import Reassignment
from cluster_impl.designs.leader_driven.partition.situation import Assigned, read_assigned
from cluster_impl.designs.leader_driven.partition.tenure import Tenure
from cluster_impl.designs.leader_driven.state_changes.request import StateChange
from cluster_impl.replication.progress import Progress

log = logging.getLogger(__name__)

_LOOKS = 3


class Verdict(Enum):
    LEADS_ON = auto()
    MAKES_WAY = auto()
    """The leader stops, and deletes /leader."""


@dataclass(slots=True)
class CommitLoop:
    tenure: Tenure
    balancing: Balancing
    reassignment: Reassignment | None = None
    looks_left: int = 0
    """Passes that look at /partitions_reassigned though nothing is known to be there: what comes right behind one that
    went may escape the listener, which compares what it finds with what it found before."""

    def adopt(self, now: Assigned) -> None:
        """What is assigned, and to whom it shall go ("onPartitionsReassigned"). A partition in the making, which has no
        AR yet, goes nowhere."""
        tenure = self.tenure
        is_changed = now != tenure.assigned
        if self.knows_reassigned and now.rar is None:
            self.looks_left = _LOOKS
        tenure.adopt_assigned(now)
        target = now.rar if now.ar is not None else None
        if target is None:
            if self.reassignment is not None and self.reassignment.gives_up_leadership(tenure.me):
                return  # that it is over was told before its last step
            if self.reassignment is not None:
                tenure.forget_asked()
                is_changed = True
            self.reassignment = None
        elif self.reassignment is None or self.reassignment.target != target:
            tenure.forget_asked()
            self.reassignment, is_changed = Reassignment(target), True
        if is_changed:
            tenure.lead()

    @property
    def knows_reassigned(self) -> bool:
        """Whether /partitions_reassigned named the partition when it was read last."""
        return self.tenure.assigned.rar is not None

    def one_pass(self, progress: Progress, now: float) -> Steps[Verdict]:
        """Raises EpochOver, StorageFailed, MalformedZnode."""
        if self.knows_reassigned or self.looks_left:  # that one comes later is told by the listener
            self.looks_left = max(self.looks_left - 1, 0)
            self.adopt((yield from read_assigned(self.tenure.partition)))
        yield from self._clear_up()
        yield from self._start_silent(progress)
        if self.reassignment is not None:
            if self.reassignment.gives_up_leadership(self.tenure.me):
                return Verdict.MAKES_WAY
            yield from self.reassignment.advance(self.tenure, progress, now)
            if self.reassignment.is_over(self.tenure.me) and not self.reassignment.is_deletion:
                self.reassignment, self.looks_left = None, _LOOKS
        elif self.tenure.around.config.balances_leaders and self.balancing.is_due(self.tenure, progress, now):
            log.info(
                "%s: makes way for its preferred replica %s", self.tenure.partition, self.tenure.assigned.preferred
            )
            self.balancing.made_way(now)
            return Verdict.MAKES_WAY
        return Verdict.LEADS_ON

    def pause(self) -> float:
        """Seconds until the next pass."""
        config, tenure = self.tenure.around.config, self.tenure
        is_moving = self.reassignment is not None and not self.reassignment.is_over(tenure.me)
        if is_moving or tenure.to_close:
            return config.tick
        looks = self.looks_left > 0 or (self.reassignment is None and self.knows_reassigned)
        if looks or (config.balances_leaders and tenure.assigned.preferred != tenure.me):
            return max(config.tick, config.preferred_wait)
        return config.keep_in_sync

    def _clear_up(self) -> Steps[None]:
        """Replicas that nothing names any more are closed, and are not in sync."""
        tenure = self.tenure
        for each in sorted(tenure.to_close):
            yield from tenure.send(StateChange.CLOSE_REPLICA, each)
        named = {*tenure.assigned.members, tenure.me}
        if not named.issuperset(tenure.in_sync.isr):
            yield from tenure.write_isr(lambda isr: [each for each in isr if each in named])
            tenure.lead()

    def _start_silent(self, progress: Progress) -> Steps[None]:
        """Ask live replicas that do not fetch to start, once for each silence: their request may have been lost with a
        queue that was full, or they closed since another assignment was under way."""
        tenure = self.tenure
        if self.reassignment is not None and self.reassignment.is_deletion:
            return
        limit, live = tenure.around.config.keep_in_sync, tenure.around.live()
        silent = [each for each in tenure.others if progress.silent_for.get(each, 0.0) > limit]
        tenure.asked_to_start &= set(silent)
        for each in silent:
            is_wanted = each in live and each not in tenure.leaving and each not in tenure.asked_to_start
            if is_wanted and (yield from tenure.send(StateChange.START_REPLICA, each)):
                tenure.asked_to_start.add(each)
