"""A controller that keeps the epoch of partitions as a replica outside the ISR goes (KAFKA-15221; against D631-25)."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from fencepost.cluster_impl.wire import messages as m


def apply() -> None:
    honest = vars(heartbeats)["changes_when_broker_goes"]

    def of_members(image: MetadataImage, broker_id: int, eligible: Collection[int]) -> list[m.IsrChangeRecord]:
        changes: list[m.IsrChangeRecord] = honest(image, broker_id, eligible)
        before = {(each.topic_id, each.index): each.isr for each in image.all_partitions()}
        return [each for each in changes if broker_id in before[each.topic_id, each.partition_id]]

    vars(heartbeats)["changes_when_broker_goes"] = of_members
