"""A controller that accepts the cancellation of a reassignment, and goes on with it (against ADM-05)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fencepost.cluster_impl.designs.quorum.controller import reassignment
from fencepost.cluster_impl.designs.quorum.image import PartitionRegistration
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("ADM-05",),
    scenarios=("administrators-ask",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_reassignment.py::"
        "test_a_cancelled_reassignment_drops_the_added_replicas_also_from_the_isr"
    ),
)


def apply() -> None:
    honest = reassignment.towards

    def onwards(
        partition: PartitionRegistration, target: Sequence[int], eligible: Collection[int]
    ) -> m.PartitionRecord | None:
        is_cancelled = partition.is_reassigned and tuple(target) == reassignment.origin_of(partition)
        return None if is_cancelled else honest(partition, target, eligible)

    reassignment.towards = onwards
