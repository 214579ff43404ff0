"""The news, with the cost of each: every test that has something to say, as one item."""

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from fencepost.results.mining.facts import Facts, Row
from fencepost.results.records.replay_command import replay_command

WEEK: Final = timedelta(days=7)
MESSAGE: Final = 200
"""Characters of a message that are shown."""
MENDED: Final = 0.02
"""The failure rate since a change below which a test counts as fixed."""


class Kind(StrEnum):
    """Why a test is named, the most urgent first."""

    NEW = "new"
    KNOWN = "known"
    FIXED = "fixed"
    ONCE = "once"


TITLES: Final = {
    Kind.NEW: "New failures",
    Kind.KNOWN: "Known failures",
    Kind.FIXED: "Fixed",
    Kind.ONCE: "Failed, though healthy",
}
MEANINGS: Final = {
    Kind.NEW: "failed in the last week, and not before it, or worse since a build of the last week",
    Kind.KNOWN: "failed in the last week, as before",
    Kind.FIXED: "better since a build of the last week",
    Kind.ONCE: "failed in the last week, but so rarely that the test counts as healthy",
}


@dataclass(frozen=True)
class Since:
    """The probable first build of the present rate, and the interval that has it with 99 %."""

    build: str
    low: str
    high: str
    at: str
    worse: bool
    rate_before: float
    rate_after: float

    @classmethod
    def of(cls, change: Mapping[str, Any]) -> "Since":
        return cls(
            change["build"],
            change["low_build"],
            change["high_build"],
            change["first_run_at"],
            change["direction"] == "worse",
            change["rate_before"],
            change["rate_after"],
        )

    def __str__(self) -> str:
        interval = "" if self.low == self.high else f" ({short(self.low)} to {short(self.high)})"
        rates = f"{self.rate_before:.0%} → {self.rate_after:.0%}"
        return f"{'worse' if self.worse else 'better'} since {short(self.build)}{interval}, {rates}"


@dataclass(frozen=True)
class Item:
    """One test that has something to say. `row` has its scores and its cost, `cause` its newest kind of failure."""

    kind: Kind
    row: Row
    since: Since | None
    cause: Row | None
    replay: str | None

    @property
    def name(self) -> str:
        return named(self.row)

    @property
    def since_words(self) -> str:
        """Return since when, in words: the change, else the first failure that the scope has."""
        if self.since is not None:
            return str(self.since)
        build = self.row["first_failed_build"]
        return f"first failed {day(self.row['first_failed_at'])}" + (f" on {short(build)}" if build else "")

    @property
    def rate_words(self) -> str:
        """Return the failure rate with its interval, and the share of failures."""
        row = self.row
        number = row["passes"] + row["violations"]
        if not number:
            return "no verdict about the target"
        return (
            f"{row['failure_rate']:.0%} ({row['rate_low']:.0%} to {row['rate_high']:.0%}; "
            f"{row['violations']} of {number} runs)"
        ) + retried_words(row)

    def as_json(self) -> dict[str, Any]:
        """Return the item for programs."""
        row = self.row
        return {
            **{name: row[name] for name in ("test", "target", "backend", "title", "state")},
            **{name: row[name] for name in ("healthy", "flaky", "broken", "failure_rate", "rate_low", "rate_high")},
            **{name: row[name] for name in ("violations", "runs", "week_red", "week_runs", "cost_s")},
            **{name: row[name] for name in ("retried_passes", "attempts", "attempt_failure_rate", "week_retried")},
            "same_plan_unstable": bool(row["unstable_plans"]),
            "since": None
            if self.since is None
            else {
                "build": self.since.build,
                "interval_99": [self.since.low, self.since.high],
                "at": self.since.at,
                "direction": "worse" if self.since.worse else "better",
                "rate_before": self.since.rate_before,
                "rate_after": self.since.rate_after,
            },
            "first_failed_build": row["first_failed_build"],
            "first_failed_at": row["first_failed_at"],
            "last_failed_at": row["last_failed_at"],
            "rule": self.cause and self.cause["rule"],
            "message": self.cause and self.cause["message"],
            "signature": self.cause and self.cause["signature"],
            "ci_url": row["failure"] and row["failure"]["ci_url"],
            "replay": self.replay,
            "page": f"tests/{row['slug']}.html",
        }


def retried_words(row: Row) -> str:
    """Return what attempts say beside runs: empty if no run was tried again and passed then."""
    if not row["retried_passes"]:
        return ""
    return f", {row['retried_passes']} passed on retry; {row['attempt_failure_rate']:.0%} of attempts failed"


def items(facts: Facts) -> dict[Kind, list[Item]]:
    """Return the tests that have something to say by kind, in the order of the facts: the most expensive first."""
    causes: dict[tuple[str, str, str], Row] = {}
    for row in facts.rows["signatures_by_test"]:
        kept = causes.get(key(row))
        if kept is None or row["last_seen_at"] > kept["last_seen_at"]:
            causes[key(row)] = row
    by_kind: dict[Kind, list[Item]] = {kind: [] for kind in Kind}
    begin = datetime.fromisoformat(facts.now) - WEEK
    for row in facts.tests:
        kind = kind_of(row, begin)
        if kind is not None:
            since = Since.of(row["change"]) if row["change"] else None
            by_kind[kind].append(Item(kind, row, since, causes.get(key(row)), replay(facts.store, row)))
    return by_kind


def kind_of(row: Row, begin: datetime) -> Kind | None:
    """Return why a test is named, for a week that begins at `begin`; None if it has nothing to say."""
    change = row["change"]
    changed = change is not None and datetime.fromisoformat(change["first_run_at"]) >= begin
    worse = changed and change["direction"] == "worse"
    if changed and not worse and change["rate_after"] <= MENDED:
        return Kind.FIXED
    if row["last_failed_at"] is None or datetime.fromisoformat(row["last_failed_at"]) < begin:
        return None
    if row["state"] == "healthy":
        return Kind.ONCE
    first = datetime.fromisoformat(row["first_failed_at"])
    return Kind.NEW if worse or first >= begin else Kind.KNOWN


def replay(store: str, row: Mapping[str, Any]) -> str | None:
    """Return the command that repeats the newest failure of a test: from its folder, else from its plan in the store.

    None for imported results, which have no plan.
    """
    failure = row["failure"]
    if failure is None or failure["plan_hash"] is None:
        return None
    if failure["folder"] and Path(failure["folder"]).is_dir():
        return replay_command(Path(failure["folder"]))
    words = ["fencepost", "show", row["test"], "--store", store, "--target", row["target"], "--save-plan", "plan.yaml"]
    return f"{shlex.join(words)} && fencepost replay plan.yaml"


def named(row: Mapping[str, Any]) -> str:
    """Return a test in words: its name, its target, and a backend that is not the usual one."""
    backend = f", {row['backend']}" if row["backend"] not in ("process", "none") else ""
    return f"{row['test']} on {row['target']}{backend}"


def shortened(message: str) -> str:
    """Return a message on one line, with at most MESSAGE characters."""
    return textwrap.shorten(message, MESSAGE, placeholder=" …")


def slower(facts: Facts) -> Sequence[Row]:
    """Return the timings that became slower, the newest change first."""
    return [row for row in facts.rows["slow_downs"] if row["direction"] == "worse"]


def key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the identity of the test of a row."""
    return row["test"], row["target"], row["backend"]


def short(build: str | None) -> str:
    """Return a build for a table: 12 characters of a digest or a commit, other names as they are."""
    if not build:
        return "an unknown build"
    bare = build.removeprefix("sha256:")
    return bare[:12] if len(bare) >= 32 else bare


def day(time: str | None) -> str:
    return time[:10] if time else "never"


def hours(seconds: float) -> str:
    """Return a duration in words: `40 s`, `12 min`, `3.4 h`, `1,200 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.1f} h" if seconds < 360_000 else f"{seconds / 3_600:,.0f} h"
