"""A start within a segment that is not written down: a crash brings deleted records back (against DSTO-07)."""

from __future__ import annotations

from fencepost.cluster_impl.storage.directory import LogDir
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-07",),
    scenarios=("log-start-moves",),
    unit="tests/cluster_impl/storage/test_directory.py::test_where_a_log_begins_is_written_at_once",
)


def apply() -> None:
    LogDir.note_start = _note_nothing  # type: ignore[method-assign]


def _note_nothing(self: LogDir, topic: str, partition: int, offset: int | None) -> None:
    """Write nothing."""
