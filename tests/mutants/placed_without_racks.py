"""A controller that places replicas as if no broker had a rack (against D631-32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.cluster_impl.designs.quorum.controller import placing
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-32",),
    scenarios=("changes-are-records",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_topics.py::"
        "test_replicas_of_a_new_topic_are_spread_over_racks"
    ),
)


def apply() -> None:
    honest = vars(placing)["place_as_neighbours"]

    def anywhere(
        brokers: Sequence[int], partitions: int, factor: int, first_place: int, racks: Mapping[int, str | None]
    ) -> list[tuple[int, ...]]:
        layout: list[tuple[int, ...]] = honest(brokers, partitions, factor, first_place, dict.fromkeys(racks))
        return layout

    vars(placing)["place_as_neighbours"] = anywhere
