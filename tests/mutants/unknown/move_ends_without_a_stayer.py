"""A controller that completes a move once the added replicas are in sync, though one that stays is not (D631-70).

The old replicas are removed while a replica of the target is away: fewer in-sync replicas hold what was acknowledged.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from fencepost.cluster_impl.designs.quorum.controller import reassignment
from fencepost.cluster_impl.designs.quorum.image import PartitionRegistration
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-70",),
    scenarios=(),
    unit="tests/mutants/unknown/test_away.py::test_no_replica_is_removed_while_one_that_stays_is_away",
    kind=Kind.AWAY,
)


def apply() -> None:
    honest = reassignment._completion

    def impatient(partition: PartitionRegistration, eligible: Collection[int]) -> m.PartitionRecord | None:
        target = [replica for replica in partition.replicas if replica not in partition.removing]
        if not partition.adding or not set(partition.adding) <= set(partition.isr):
            return honest(partition, eligible)
        in_sync = [replica for replica in eligible if replica in partition.isr]
        away = [replica for replica in target if replica not in partition.isr]
        done = honest(replace(partition, isr=(*partition.isr, *away)), in_sync)
        if done is not None:
            done.isr = [replica for replica in done.isr if replica in partition.isr]
        return done

    reassignment._completion = impatient
