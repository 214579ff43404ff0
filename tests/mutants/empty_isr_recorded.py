"""A controller that removes the last member of an ISR (KAFKA-708; against ISR-07)."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.image import NO_LEADER, MetadataImage
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-708",
    designs=(QUORUM,),
    rules=("ISR-03", "ACK-01"),
    scenarios=("everything-killed", "emptied-follower"),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    honest = heartbeats.changes_when_broker_goes  # type: ignore[attr-defined]

    def all_gone(image: MetadataImage, broker_id: int, eligible: Collection[int]) -> list[m.IsrChangeRecord]:
        changes: list[m.IsrChangeRecord] = honest(image, broker_id, eligible)
        for change in changes:
            if change.leader == NO_LEADER:
                change.isr = [member for member in change.isr if member != broker_id]
        return changes

    heartbeats.changes_when_broker_goes = all_gone  # type: ignore[attr-defined]
