"""A controller that leaves a partition to its last leader after that was fenced (KAFKA-19522; against K631-32)."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.image import NO_LEADER, MetadataImage
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-19522",
    designs=(QUORUM,),
    rules=("D631-07", "K631-32"),
    scenarios=("outside-the-isr", "quorum-lost", "everything-killed"),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    honest = heartbeats.changes_when_broker_goes  # type: ignore[attr-defined]

    def it_stays(image: MetadataImage, broker_id: int, eligible: Collection[int]) -> list[m.IsrChangeRecord]:
        changes: list[m.IsrChangeRecord] = honest(image, broker_id, eligible)
        for change in changes:
            if change.leader == NO_LEADER and broker_id in change.isr:
                change.leader = broker_id
        return changes

    heartbeats.changes_when_broker_goes = it_stays  # type: ignore[attr-defined]
