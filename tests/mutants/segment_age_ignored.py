"""A log that begins a new segment only when the old one is full, however old its records are (against DSTO-06)."""

from __future__ import annotations

from fencepost.cluster_impl.storage.log import NO_SEGMENT_MS, Log


def apply() -> None:
    Log.segment_ms = property(lambda log: NO_SEGMENT_MS, lambda log, value: None)  # type: ignore[assignment]
