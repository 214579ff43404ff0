"""A leader that commits with fewer in-sync replicas than the topic asks for (KAFKA-15583; against HW-02)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition


def apply() -> None:
    honest = Partition._advance_high_watermark

    def alone(self: Partition) -> bool:
        wanted, self._min_isr = self._min_isr, 1
        try:
            return honest(self)
        finally:
            self._min_isr = wanted

    Partition._advance_high_watermark = alone  # type: ignore[method-assign]
