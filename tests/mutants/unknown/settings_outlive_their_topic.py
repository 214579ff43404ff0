"""A DeleteTopic record that leaves the topic's settings: the next topic of the name begins with them (K631-68)."""

from __future__ import annotations

from uuid import UUID

from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-68", "ADM-04"),
    scenarios=(),
    unit="tests/mutants/unknown/test_second_time.py::test_a_topic_made_again_has_its_own_settings_alone",
    kind=Kind.SECOND_TIME,
)


def apply() -> None:
    honest = MetadataImage._delete_topic

    def leaving(self: MetadataImage, topic_id: UUID) -> None:
        name = self.topic_names[topic_id]
        settings = self.topic_configs.get(name)
        honest(self, topic_id)
        if settings is not None:
            self.topic_configs[name] = settings

    MetadataImage._delete_topic = leaving  # type: ignore[method-assign]
