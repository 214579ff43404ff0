"""Retention by size that deletes the segment with which the limit is reached, and so keeps too little (DSTO-08)."""

from __future__ import annotations

from fencepost.cluster_impl.storage.log import Log
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-08",),
    scenarios=("log-start-moves",),
    unit="tests/cluster_impl/storage/test_log_start.py",
)


def apply() -> None:
    honest = Log.expired_before

    def one_more(self: Log, limit: int, now_ms: int, retention_ms: int, retention_bytes: int) -> int:
        start = honest(self, limit, now_ms, retention_ms, retention_bytes)
        following = [segment for segment in self.segments.closed(limit) if segment.base_offset == start]
        if retention_bytes >= 0 and following:
            end: int = following[0].next_offset
            return end
        return start

    Log.expired_before = one_more  # type: ignore[method-assign]
