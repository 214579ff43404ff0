"""A second target for a moving partition that counts what the first target added as its origin (against KIP-455).

The second move, once cancelled, leaves the replicas of the first behind (D631-70, ADM-05: nothing is left).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from fencepost.cluster_impl.designs.quorum.controller import reassignment
from fencepost.cluster_impl.designs.quorum.image import PartitionRegistration
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-70", "ADM-05"),
    scenarios=(),
    unit="tests/mutants/unknown/test_second_time.py::test_a_second_move_that_is_cancelled_leaves_the_first_replicas",
    kind=Kind.SECOND_TIME,
)


def apply() -> None:
    honest = reassignment.towards

    def from_all(
        partition: PartitionRegistration, target: Sequence[int], eligible: Collection[int]
    ) -> m.PartitionRecord | None:
        cancels = tuple(target) == reassignment.origin_of(partition)
        settled = partition if cancels else replace(partition, adding=(), removing=())
        return honest(settled, target, eligible)

    reassignment.towards = from_all
