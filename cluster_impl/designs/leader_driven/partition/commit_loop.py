"""The control-plane part of one pass of the commit loop ("Commit thread on the leader").

The data plane handles the high watermark, acknowledgements, and joining or leaving the ISR. The rest runs on a tick,
not only after a produce request, so that a partition without traffic is reassigned and balanced as well.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import Enum, auto

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.leader_driven.partition.balancing import Balancing
from fencepost.cluster_impl.designs.leader_driven.partition.leader_term import LeaderTerm
from fencepost.cluster_impl.designs.leader_driven.partition.reassignment import Reassignment
from fencepost.cluster_impl.designs.leader_driven.partition.situation import ReplicaAssignment, read_assigned
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange
from fencepost.cluster_impl.replication.progress import Progress

log = logging.getLogger(__name__)

_LOOKS = 3


class PassResult(Enum):
    """The result of one pass of the commit loop."""

    KEEPS_LEADING = auto()
    STEPS_DOWN = auto()
    """The leader stops and deletes /leader."""


@dataclass(slots=True)
class CommitLoop:
    """The passes of one leader term."""

    leader_term: LeaderTerm
    balancing: Balancing
    reassignment: Reassignment | None = None
    prefer_until: float = float("-inf")
    """The time up to which the leader gives way to the preferred replica, on request (decision DLD-51)."""
    looks_left: int = 0
    """The number of further passes that read /partitions_reassigned although no entry is known.

    A reassignment written right after an earlier one was deleted can escape the listener, which compares lists of
    children.
    """

    def adopt(self, now: ReplicaAssignment) -> None:
        """Take over AR and RAR as they are now ("onPartitionsReassigned").

        A partition that is being created has no AR yet and is not reassigned.
        """
        leader_term = self.leader_term
        is_changed = now != leader_term.assigned
        if self.knows_reassigned and now.rar is None:
            self.looks_left = _LOOKS
        leader_term.adopt_assigned(now)
        target = now.rar if now.ar is not None else None
        if target is None:
            if self.reassignment is not None and self.reassignment.gives_up_leadership(leader_term.me):
                return  # the end of the reassignment was reported before its last step
            if self.reassignment is not None:
                leader_term.forget_requests()
                is_changed = True
            self.reassignment = None
        elif self.reassignment is None or self.reassignment.target != target:
            leader_term.forget_requests()
            self.reassignment, is_changed = Reassignment(target), True
        if is_changed:
            leader_term.lead()

    @property
    def knows_reassigned(self) -> bool:
        """True if /partitions_reassigned named the partition at the last read."""
        return self.leader_term.assigned.rar is not None

    def one_pass(self, progress: Progress, now: float) -> Steps[PassResult]:
        """Run one pass and return whether the leader stays. Raises EpochOver, StorageFailed, MalformedZnode."""
        if self.knows_reassigned or self.looks_left:  # the listener reports an entry that is added later
            self.looks_left = max(self.looks_left - 1, 0)
            self.adopt((yield from read_assigned(self.leader_term.partition)))
        yield from self._clear_up()
        yield from self._start_silent(progress)
        if self.reassignment is not None:
            if self.reassignment.gives_up_leadership(self.leader_term.me):
                return PassResult.STEPS_DOWN
            yield from self.reassignment.advance(self.leader_term, progress, now)
            if self.reassignment.is_over(self.leader_term.me) and not self.reassignment.is_deletion:
                self.reassignment, self.looks_left = None, _LOOKS
        elif self._gives_way(progress, now):
            log.info(
                "%s: steps down for its preferred replica %s",
                self.leader_term.partition,
                self.leader_term.assigned.preferred,
            )
            self.balancing.stepped_down(now)
            return PassResult.STEPS_DOWN
        return PassResult.KEEPS_LEADING

    def _gives_way(self, progress: Progress, now: float) -> bool:
        """Return True if the leader should step down now, by itself or because that was requested."""
        if now <= self.prefer_until and self.balancing.is_possible(self.leader_term, progress):
            return True
        balances = self.leader_term.context.config.auto_leader_rebalance
        return balances and self.balancing.is_due(self.leader_term, progress, now)

    def pause(self) -> float:
        """Return the seconds until the next pass."""
        config, leader_term = self.leader_term.context.config, self.leader_term
        is_moving = self.reassignment is not None and not self.reassignment.is_over(leader_term.me)
        if is_moving or leader_term.to_close:
            return config.tick
        looks = self.looks_left > 0 or (self.reassignment is None and self.knows_reassigned)
        if looks or (config.auto_leader_rebalance and leader_term.assigned.preferred != leader_term.me):
            return max(config.tick, config.preferred_wait)
        return config.keep_in_sync

    def _clear_up(self) -> Steps[None]:
        """Close the replicas that neither AR nor RAR names any more, and take them out of the ISR."""
        leader_term = self.leader_term
        for replica in sorted(leader_term.to_close):
            yield from leader_term.send(StateChange.CLOSE_REPLICA, replica)
        named = {*leader_term.assigned.members, leader_term.me}
        if not named.issuperset(leader_term.in_sync.isr):
            yield from leader_term.write_isr(lambda isr: [replica for replica in isr if replica in named])
            leader_term.lead()

    def _start_silent(self, progress: Progress) -> Steps[None]:
        """Send a start request to live replicas that do not fetch, once for each period of silence.

        Their first request may have been dropped from a full queue, or they closed because of another assignment.
        """
        leader_term = self.leader_term
        if self.reassignment is not None and self.reassignment.is_deletion:
            return
        limit, live = leader_term.context.config.keep_in_sync, leader_term.context.live()
        silent = [replica for replica in leader_term.others if progress.silent_for.get(replica, 0.0) > limit]
        leader_term.start_requests &= set(silent)
        for replica in silent:
            is_wanted = (
                replica in live and replica not in leader_term.leaving and replica not in leader_term.start_requests
            )
            if is_wanted and (yield from leader_term.send(StateChange.START_REPLICA, replica)):
                leader_term.start_requests.add(replica)
