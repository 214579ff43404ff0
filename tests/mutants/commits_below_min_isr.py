"""A leader that commits with fewer in-sync replicas than the topic asks for (KAFKA-15583; against HW-02)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-15583",
    designs=ALL,
    rules=("ISR-08", "HW-02"),
    scenarios=("below-min-isr", "slow-follower", "links-bridge"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    honest = Partition._advance_high_watermark

    def alone(self: Partition) -> bool:
        wanted, self._min_isr = self._min_isr, 1
        try:
            return honest(self)
        finally:
            self._min_isr = wanted

    Partition._advance_high_watermark = alone  # type: ignore[method-assign]
