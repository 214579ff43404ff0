"""When a leader makes way for the preferred replica ("checkLoadBalancing")."""

from __future__ import annotations

from dataclasses import dataclass

from cluster_impl.designs.leader_driven.partition.tenure import Tenure
from cluster_impl.replication.progress import Progress

_MOST_DOUBLINGS = 6


@dataclass(slots=True)
class Balancing:
    """`pause`: seconds after making way in vain, doubled each time: a preferred replica that never wins would take the
    partition out of service again and again. Survives tenures."""

    pause: float
    _in_vain: int = 0
    _not_before: float = float("-inf")

    def is_due(self, tenure: Tenure, progress: Progress, now: float) -> bool:
        """Beyond the document, it is registered, and it has all that is committed: an ISR member may be neither."""
        preferred = tenure.assigned.preferred
        return (
            now >= self._not_before
            and preferred is not None
            and preferred != tenure.me
            and preferred in tenure.in_sync.isr
            and preferred in tenure.around.live()
            and progress.ends.get(preferred, -1) >= progress.high_watermark
        )

    def made_way(self, now: float) -> None:
        self._not_before = now + self.pause * 2**self._in_vain
        self._in_vain = min(self._in_vain + 1, _MOST_DOUBLINGS)

    def other_leads(self) -> None:
        """It was not in vain."""
        self._in_vain = 0
