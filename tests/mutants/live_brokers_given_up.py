"""A controller that gives a broker up in the middle of its lease (KAFKA-15019; against KIP-631, Fencing)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.leases import Leases

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
