"""A default of all brokers that, once it is changed, takes the place of every topic's own settings (against ADM-04)."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.cluster_impl.designs.quorum.image import ALL_BROKERS, MetadataImage
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-9254",
    designs=(QUORUM,),
    rules=("ADM-04",),
    scenarios=("administrators-ask",),
    unit=(
        "tests/cluster_impl/designs/quorum/broker/test_metadata.py::"
        "test_a_setting_reaches_the_replicas_that_it_is_for_when_it_is_committed"
    ),
)


def apply() -> None:
    honest = MetadataImage.config_of

    def wiped(self: MetadataImage, topic: str) -> Mapping[str, str]:
        return {} if self.broker_configs.get(ALL_BROKERS) else honest(self, topic)

    MetadataImage.config_of = wiped  # type: ignore[method-assign]
