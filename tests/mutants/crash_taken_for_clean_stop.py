"""A log whose state at its last clean stop is believed after any later crash (KAFKA-15375; against DSTO-04)."""

from __future__ import annotations

from pathlib import Path

from fencepost.cluster_impl.storage import clean_stop
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-15375",
    designs=ALL,
    rules=("DSTO-04", "ACK-01"),
    scenarios=("stopped-follower",),
    unit="tests/cluster_impl/storage/test_clean_stop.py::test_a_crash_after_a_start_is_never_taken_for_a_clean_stop",
)


def apply() -> None:
    honest = clean_stop.take

    def kept(directory: Path) -> clean_stop.StoppedLog | None:
        stopped = honest(directory)
        if stopped is not None:
            stopped.write(directory)
        return stopped

    def same_names(self: clean_stop.StoppedLog, paths: list[Path]) -> bool:
        return [int(path.stem) for path in paths] == [segment.base_offset for segment in self.segments]

    clean_stop.LEAST_BYTES = 1
    clean_stop.take = kept
    clean_stop.StoppedLog.describes = same_names  # type: ignore[assignment, method-assign]
