"""A ConfigRecord without a value that removes all settings of its resource (against D631-31, KIP-339: that one)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.image import BROKER_RESOURCE, TOPIC_RESOURCE, MetadataImage
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-31", "ADM-04"),
    scenarios=(),
    unit="tests/mutants/unknown/test_accepted.py::test_the_removal_of_a_setting_leaves_the_others",
    kind=Kind.ACCEPTED,
)


def apply() -> None:
    honest = MetadataImage._configure

    def removing(self: MetadataImage, record: m.ConfigRecord) -> None:
        honest(self, record)
        if record.value is None:
            resources = {TOPIC_RESOURCE: self.topic_configs, BROKER_RESOURCE: self.broker_configs}
            resources.get(record.resource_type, {}).pop(record.resource_name, None)

    MetadataImage._configure = removing  # type: ignore[method-assign]
