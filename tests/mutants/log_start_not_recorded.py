"""A start within a segment that is not written down: a crash brings deleted records back (against DSTO-07)."""

from __future__ import annotations

from fencepost.cluster_impl.storage.directory import LogDir


def apply() -> None:
    LogDir.note_start = _note_nothing  # type: ignore[method-assign]


def _note_nothing(self: LogDir, topic: str, partition: int, offset: int | None) -> None:
    """Write nothing."""
