"""A coordinator that stores metadata of any length with an offset (against OFFSET_METADATA_TOO_LARGE, error 12).

offset.metadata.max.bytes is 4096 in Kafka. One group can fill the log of offsets, and the memory of its coordinator.
"""

from __future__ import annotations

from fencepost.cluster_impl.api.groups import offsets
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("CRD-01", "CRD-02"),
    scenarios=(),
    unit="tests/mutants/unknown/test_refusals.py::test_an_offset_with_too_much_metadata_is_refused",
    kind=Kind.REFUSALS,
)


def apply() -> None:
    offsets._METADATA_LIMIT = 32767
