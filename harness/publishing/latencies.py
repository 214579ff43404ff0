"""Rows of the table `latencies`: mergeable histograms of the operations of a run."""

from __future__ import annotations

from collections import defaultdict
from math import floor, log2
from typing import Any

from fencepost.results.records.journal import Journal


def latency_rows(journal: Journal) -> list[dict[str, Any]]:
    """Return a row for each operation, outcome, situation and bucket that occurred."""
    begun: dict[str, tuple[float, str]] = {}
    active: set[str] = set()
    buckets: dict[tuple[str, str, str, int], list[float]] = defaultdict(lambda: [0, 0.0])
    for event in journal.events:
        if event.type == "fault" and event.phase in ("injected", "healed"):
            (active.add if event.phase == "injected" else active.discard)(event.id)
        elif event.type == "op" and event.phase == "invoke":
            begun[event.id] = (event.t, "fault" if active else "quiet")
        elif event.type == "op" and event.id in begun:
            at, during = begun.pop(event.id)
            seconds = event.t - at
            found = buckets[str(event.data.get("f", "unknown")), event.phase, during, bucket(seconds)]
            found[0] += 1
            found[1] += seconds
    return [
        {
            "operation": operation,
            "outcome": outcome,
            "during": during,
            "bucket": number,
            "operations": int(operations),
            "seconds": round(seconds, 6),
        }
        for (operation, outcome, during, number), (operations, seconds) in sorted(buckets.items())
    ]


def bucket(seconds: float) -> int:
    """Return the bucket of a latency: floor(4 log2(microseconds)), at least 0. A bucket is 19 % wide."""
    return max(0, floor(4 * log2(max(seconds * 1e6, 1.0))))
