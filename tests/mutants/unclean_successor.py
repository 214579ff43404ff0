"""A controller that elects any live replica when no in-sync one is left (KIP-966; against D631-07)."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.quorum.controller import elections
from fencepost.cluster_impl.designs.quorum.image import NO_LEADER, PartitionRegistration
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KIP-966",
    designs=(QUORUM,),
    rules=("ISR-09",),
    scenarios=("outside-the-isr",),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    honest = elections._successor

    def any_of_them(partition: PartitionRegistration, eligible: Collection[int]) -> int:
        found = honest(partition, eligible)
        if found != NO_LEADER:
            return found
        others = (each for each in partition.replicas if each in eligible and each != partition.leader)
        return next(others, NO_LEADER)

    elections._successor = any_of_them
