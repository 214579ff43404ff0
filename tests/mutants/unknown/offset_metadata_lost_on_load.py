"""A coordinator that loads offsets without what their clients stored beside them (against CRD-03).

OffsetFetch returns the offset with empty metadata and no leader epoch once the coordinator has changed or restarted; a
client then cannot detect a truncated log (KIP-320, OffsetFetch), and streams and sinks lose their own state.
"""

from __future__ import annotations

from dataclasses import replace

from fencepost.cluster_impl.api.groups import coordinator
from fencepost.cluster_impl.api.groups.offset_records import CommittedOffset, decode_value
from fencepost.cluster_impl.wire.codec import Buffer
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("CRD-03",),
    scenarios=(),
    unit="tests/mutants/unknown/test_outlives.py::test_a_coordinator_loads_offsets_with_their_metadata",
    kind=Kind.OUTLIVES,
)


def apply() -> None:
    def bare(value: Buffer) -> CommittedOffset:
        return replace(decode_value(value), metadata="", leader_epoch=-1)

    coordinator.decode_value = bare  # type: ignore[attr-defined]
