"""A controller that keeps the epoch of partitions as a replica outside the ISR goes (KAFKA-15221; against D631-25)."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-15221",
    designs=(QUORUM,),
    rules=("D631-25",),
    scenarios=("changes-are-records",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_alter_isr.py::"
        "test_only_the_process_that_caught_up_joins_not_one_that_took_its_id_since"
    ),
)


def apply() -> None:
    honest = vars(heartbeats)["changes_when_broker_goes"]

    def of_members(image: MetadataImage, broker_id: int, eligible: Collection[int]) -> list[m.IsrChangeRecord]:
        changes: list[m.IsrChangeRecord] = honest(image, broker_id, eligible)
        before = {(each.topic_id, each.index): each.isr for each in image.all_partitions()}
        return [each for each in changes if broker_id in before[each.topic_id, each.partition_id]]

    vars(heartbeats)["changes_when_broker_goes"] = of_members
