"""A controller that writes two records for each setting into a snapshot (against K631-22)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fencepost.cluster_impl.designs.quorum import snapshot_records
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-22",),
    scenarios=("snapshot-fetched",),
    unit="tests/cluster_impl/designs/quorum/test_snapshot_records.py::test_a_snapshot_has_one_record_for_each_entity",
)


def apply() -> None:
    honest = snapshot_records._settings

    def twice(resource_type: int, resource: str, config: Mapping[str, str]) -> Iterator[m.ConfigRecord]:
        for record in honest(resource_type, resource, config):
            yield record
            yield record

    snapshot_records._settings = twice
