"""Handing leadership back to the preferred replica ("checkLoadBalancing")."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.cluster_impl.designs.leader_driven.partition.leader_term import LeaderTerm
from fencepost.cluster_impl.replication.progress import Progress

_MOST_DOUBLINGS = 6


@dataclass(slots=True)
class Balancing:
    """When a leader should step down for the preferred replica. Survives leader terms.

    `pause` is in seconds: the wait after stepping down without success. It doubles each time, because a preferred
    replica that never wins would make the partition unavailable again and again.
    """

    pause: float
    _in_vain: int = 0
    _not_before: float = float("-inf")

    def is_due(self, leader_term: LeaderTerm, progress: Progress, now: float) -> bool:
        return now >= self._not_before and self.is_possible(leader_term, progress)

    @staticmethod
    def is_possible(leader_term: LeaderTerm, progress: Progress) -> bool:
        """Return True if the preferred replica can lead in place of this one.

        Beyond the document, it must be registered and must have all committed records; being in the ISR guarantees
        neither.
        """
        preferred = leader_term.assigned.preferred
        return (
            preferred is not None
            and preferred != leader_term.me
            and preferred in leader_term.in_sync.isr
            and preferred in leader_term.context.live()
            and progress.ends.get(preferred, -1) >= progress.high_watermark
        )

    def stepped_down(self, now: float) -> None:
        """Note that the leader stepped down at `now`."""
        self._not_before = now + self.pause * 2**self._in_vain
        self._in_vain = min(self._in_vain + 1, _MOST_DOUBLINGS)

    def other_leads(self) -> None:
        """Note that another replica leads, so stepping down had its effect."""
        self._in_vain = 0
