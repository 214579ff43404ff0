"""A controller that accepts the cancellation of a reassignment, and goes on with it (against ADM-05)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fencepost.cluster_impl.designs.quorum.controller import reassignment
from fencepost.cluster_impl.designs.quorum.image import PartitionRegistration
from fencepost.cluster_impl.wire import messages as m


def apply() -> None:
    honest = reassignment.towards

    def onwards(
        partition: PartitionRegistration, target: Sequence[int], eligible: Collection[int]
    ) -> m.PartitionRecord | None:
        is_cancelled = partition.is_reassigned and tuple(target) == reassignment.origin_of(partition)
        return None if is_cancelled else honest(partition, target, eligible)

    reassignment.towards = onwards
