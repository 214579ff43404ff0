"""A returning broker that removes stray replicas by topic, not by partition (against KIP-631, DeleteTopic; D631-70).

A replica that moved away in its absence stays on its disk if the broker has another partition of the topic.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.shared.strays import Strays
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.mutants.defect import LEADER_DRIVEN, QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM, LEADER_DRIVEN),
    rules=("D631-70", "ADM-05"),
    scenarios=(),
    unit="tests/mutants/unknown/test_away.py::test_a_broker_that_returns_removes_each_replica_that_it_lost",
    kind=Kind.AWAY,
)


def apply() -> None:
    honest = Strays.beside

    def by_topic(self: Strays, kept: Collection[TopicPartition]) -> list[TopicPartition]:
        topics = {partition.topic for partition in kept}
        return [stray for stray in honest(self, kept) if stray.topic not in topics]

    Strays.beside = by_topic  # type: ignore[method-assign]
