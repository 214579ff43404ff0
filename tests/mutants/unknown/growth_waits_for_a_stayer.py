"""A controller that waits for every replica of the target, also where none is removed (KAFKA-19975; against D631-70).

A partition gets a replica while one that stays is away; the move does not end before that one is back (ADM-05).
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.quorum.controller import reassignment
from fencepost.cluster_impl.designs.quorum.image import PartitionRegistration
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-70", "ADM-05"),
    scenarios=(),
    unit="tests/mutants/unknown/test_away.py::test_a_replica_is_added_while_one_that_stays_is_away",
    kafka="KAFKA-19975",
    kind=Kind.AWAY,
)


def apply() -> None:
    honest = reassignment._completion

    def patient(partition: PartitionRegistration, eligible: Collection[int]) -> m.PartitionRecord | None:
        target = set(partition.replicas) - set(partition.removing)
        return honest(partition, eligible) if target <= set(partition.isr) else None

    reassignment._completion = patient
