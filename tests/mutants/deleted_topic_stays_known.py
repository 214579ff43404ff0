"""A DeleteTopic record after which the topic and its partitions are still there (against K631-68)."""

from __future__ import annotations

from uuid import UUID

from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-68",),
    scenarios=("changes-are-records",),
    unit=(
        "tests/cluster_impl/designs/quorum/test_image.py::"
        "test_a_topic_made_again_begins_above_every_leader_epoch_of_the_earlier_one"
    ),
)


def apply() -> None:
    def unmark(self: MetadataImage, topic_id: UUID) -> None:
        self.deleting.discard(topic_id)

    MetadataImage._delete_topic = unmark  # type: ignore[method-assign]
