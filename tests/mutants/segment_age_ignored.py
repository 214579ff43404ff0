"""A log that begins a new segment only when the old one is full, however old its records are (against DSTO-06)."""

from __future__ import annotations

from fencepost.cluster_impl.storage.log import NO_SEGMENT_MS, Log
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-06",),
    scenarios=("log-start-moves",),
    unit=(
        "tests/cluster_impl/storage/test_clean_stop.py::"
        "test_a_segment_ends_before_a_record_that_is_too_much_newer_than_its_first"
    ),
)


def apply() -> None:
    Log.segment_ms = property(lambda log: NO_SEGMENT_MS, lambda log, value: None)  # type: ignore[assignment]
