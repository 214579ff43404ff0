"""A leader that lets a follower join below the start of its own term (KAFKA-7128; against ISR-05)."""

from __future__ import annotations

from fencepost.cluster_impl.replication import partition
from fencepost.cluster_impl.replication.follower import FollowerProgress
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-7128",
    designs=WITH_CONTROLLER,
    rules=("ISR-10", "ISR-06", "ACK-01"),
    scenarios=("empty-behind-the-successor", "truncated-and-elected", "isolated-leader", "slow-follower"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    honest = partition.may_join  # type: ignore[attr-defined]

    def early(
        progress: FollowerProgress,
        registered_epoch: int | None,
        high_watermark: int,
        leader_term_start: int,
        log_start_offset: int = 0,
    ) -> bool:
        allowed: bool = honest(progress, registered_epoch, high_watermark, 0, log_start_offset)
        return allowed

    partition.may_join = early  # type: ignore[attr-defined]
