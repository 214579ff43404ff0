"""Rows of runs for stores in tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def head(name: str, days_ago: float = 0, *, test: str = "t", verdict: str = "pass") -> dict[str, Any]:
    """Return the columns that each table of runs begins with."""
    started = NOW - timedelta(days=days_ago)
    return {
        "date": started.date(),
        "run_id": name,
        "test": test,
        "target": "quorum",
        "backend": "process",
        "verdict": verdict,
        "started_at": started,
    }


def run(name: str, days_ago: float = 0, *, test: str = "t", verdict: str = "pass", **more: Any) -> dict[str, Any]:
    """Return a row of `runs`."""
    return {
        **head(name, days_ago, test=test, verdict=verdict),
        "source": "fencepost",
        "run": name,
        "attempt": 1,
        "duration_s": 1.0,
        "published_at": NOW,
        **more,
    }


def finding(name: str, days_ago: float = 0, *, test: str = "t") -> dict[str, Any]:
    """Return a row of `findings`."""
    return {
        **head(name, days_ago, test=test, verdict="violation"),
        "row": 0,
        "check": "c",
        "finding": "violation",
        "message": "m",
        "masked": "m",
        "signature": "s",
        "masking": 1,
    }
