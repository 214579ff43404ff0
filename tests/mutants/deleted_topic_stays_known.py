"""A DeleteTopic record after which the topic and its partitions are still there (against K631-68)."""

from __future__ import annotations

from uuid import UUID

from fencepost.cluster_impl.designs.quorum.image import MetadataImage


def apply() -> None:
    def unmark(self: MetadataImage, topic_id: UUID) -> None:
        self.deleting.discard(topic_id)

    MetadataImage._delete_topic = unmark  # type: ignore[method-assign]
