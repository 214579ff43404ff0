"""Facts as the jobs leave them, written as rows of what matters in a test."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from fencepost.results.mining.facts import Facts, Row, slug

NOW = "2026-11-23T12:00:00+00:00"
NAMES = (
    *("verdicts_by_build", "newest_runs", "signatures_by_test", "times_by_test", "halts", "change_points"),
    *("harness_changes", "slow_downs", "attribution", "attribution_by_test", "signatures", "together", "quarantine"),
    *("coverage", "reached", "times", "latencies", "outliers"),
    *("days", "basis", "verdicts_by_day", "newest_failures"),
)


def of_test(name: str, **columns: Any) -> Row:
    """Return the row of a test that failed half of its runs in the last week, and before."""
    key = {"test": name, "target": "quorum", "backend": "process"}
    known: Row = {
        **key,
        "runs": 22,
        "passes": 10,
        "violations": 10,
        "infrastructure": 1,
        "inconclusive": 1,
        "retried_passes": 0,
        "attempts": 20,
        "failed_attempts": 10,
        "attempt_failure_rate": 0.5,
        "failure_rate": 0.5,
        "rate_low": 0.3,
        "rate_high": 0.7,
        "flip_rate": 0.4,
        "entropy": 1.0,
        "same_plan": 0.5,
        "other_plan": 0.25,
        "unknown_builds": 0,
        "unstable_plans": 2,
        "plan_decides": 0.0,
        "passed_run": "run-1",
        "failed_run": "run-2",
        "healthy": 0.0,
        "flaky": 0.97,
        "broken": 0.03,
        "state": "flaky",
        "title": f"The title of {name}",
        "suite": None,
        "week_runs": 8,
        "week_red": 4,
        "week_retried": 0,
        "week_s": 80.0,
        "cost_s": 2440.0,
        "last_run_at": "2026-11-23T11:00:00+00:00",
        "last_verdict": "violation",
        "passes_since": 0,
        "first_failed_at": "2026-11-01T11:00:00+00:00",
        "first_failed_build": "build-01",
        "last_failed_at": "2026-11-23T11:00:00+00:00",
        "last_failed_build": "build-09",
        "failure": {"run_id": "run-2", "folder": None, "plan_hash": "sha256:ab", "ci_url": None},
        "change": None,
    }
    row = known | columns
    return row | {"slug": slug(row["test"], row["target"], row["backend"])}


def change(
    direction: str, at: str, low: str = "build-07", high: str = "build-08", rates: tuple[float, float] = (0.0, 0.5)
) -> Row:
    """Return a change at build-08."""
    return {
        "build": "build-08",
        "build_number": 8,
        "first_run_at": at,
        "direction": direction,
        "certainty": 20.0,
        "low_build": low,
        "low_number": 7,
        "high_build": high,
        "high_number": 8,
        "rate_before": rates[0],
        "rate_after": rates[1],
        "runs_before": 10,
        "runs_after": 10,
    }


def facts(*tests: Row, **rows: list[Row]) -> Facts:
    """Return facts with these tests, and these rows of jobs."""
    if unknown := set(rows) - set(NAMES):
        raise KeyError(f"no job is called {', '.join(sorted(unknown))}")
    totals: Row = {
        "runs": 22 * len(tests),
        "attempts": 22 * len(tests),
        "tests": len(tests),
        "targets": ["quorum"],
        "left_out": {"planted defect": 3},
        "first_at": "2026-11-01T11:00:00+00:00",
        "last_at": NOW,
    }
    return Facts("store", None, None, NOW, None, totals, list(tests), {name: rows.get(name, []) for name in NAMES})


def kind(name: str, message: str) -> Row:
    """Return a row of `signatures_by_test`."""
    return {
        "test": name,
        "target": "quorum",
        "backend": "process",
        "signature": "s1",
        "rule": "ACK-01",
        "check": "lost-write",
        "message": message,
        "failures": 10,
        "last_run": "run-2",
        "first_seen_at": "2026-11-01T11:00:00+00:00",
        "last_seen_at": "2026-11-23T11:00:00+00:00",
    }


def many(tests: int, builds: int, *, known: bool = True) -> Facts:
    """Return facts of many tests, the first half of which fail, the first ones always, later ones more rarely.

    They ran ten times a day, on a build of each day; of unknown builds unless `known`.
    """
    begin = date.fromisoformat(NOW[:10]) - timedelta(days=builds - 1)
    rows: list[Row] = []
    cells: list[Row] = []
    failures: list[Row] = []
    for number in range(tests):
        failed = max(0, 10 - number * 20 // tests)
        state = "broken" if failed == 10 else "flaky" if failed else "healthy"
        name = f"org.acme.broker.LogTest::appends{number:04}"
        row = of_test(name, state=state, failure_rate=failed / 10, cost_s=600.0 * failed, failed_attempts=failed)
        rows.append(row | {"unknown_builds": 0 if known else row["runs"]})
        for place in range(builds):
            day = begin + timedelta(days=place)
            x = failed if place % 7 else 0
            counts = {"pass": 10 - x, "violation": x, "infrastructure": 0, "inconclusive": 0, "retried": place % 2}
            key: Row = {"test": name, "target": "quorum", "backend": "process"}
            at = f"{day}T03:00:00+00:00"
            build = {"build": f"build-{place:02}", "release": None, "first_run_at": at} if known else {"date": f"{day}"}
            cells.append(key | build | counts | {"median_s": 2.0 if place < builds // 2 else 4.0})
            if x and number < 20:
                run: Row = {
                    "run_id": f"run-{number}-{place}",
                    "verdict": "violation",
                    "started_at": at,
                    "release": None,
                }
                run |= {
                    "build": f"build-{place:02}" if known else None,
                    "plan_hash": None,
                    "seed": None,
                    "folder": None,
                }
                run |= {"duration_s": 2.0, "headline": "It was lost.", "left_out": None, "ci_url": None}
                failures.append(key | run | {"attempt": 1, "attempts": None})
    days = [
        {"target": "quorum", "date": f"{begin + timedelta(days=place)}", "builds": int(known)}
        | {"unknown": 0 if known else 10 * tests, "pass": 9 * tests, "violation": tests, "infrastructure": 0}
        | {"inconclusive": 0, "retried": tests, "attempts": 11 * tests, "seconds": 22.0 * tests, "lost_s": 4.0 * tests}
        | {"timed": 9 * tests, "timed_s": 18.0 * tests + place}
        for place in reversed(range(builds))
    ]
    of = {"verdicts_by_build" if known else "verdicts_by_day": cells}
    of_basis = [{"target": "quorum", "builds": builds}] if known else []
    return facts(*rows, days=days, basis=of_basis, newest_failures=failures, **of)
