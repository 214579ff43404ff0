"""A controller that gives a broker up in the middle of its lease (KAFKA-15019; against KIP-631, Fencing)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.leases import Leases
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-15019",
    designs=(QUORUM,),
    rules=("K631-51", "D631-07", "LIVE-01"),
    scenarios=("half-a-lease", "leader-disk-slow", "cut-from-controllers-replies"),
    unit="tests/cluster_impl/designs/quorum/controller",
)

EARLY = 0.6
"""The part of a lease that is cut off."""


def apply() -> None:
    over, next_end = Leases.over, Leases.next_end

    def early(self: Leases, now: float) -> list[int]:
        return over(self, now + EARLY * self.duration)

    def early_end(self: Leases) -> float | None:
        end = next_end(self)
        return None if end is None else end - EARLY * self.duration

    Leases.over = early  # type: ignore[method-assign]
    Leases.next_end = early_end  # type: ignore[method-assign]
