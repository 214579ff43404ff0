"""What is known of a suite while it runs: a state that progress lines change, and that is told the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.conformance.progress import Phase
from results.records.verdict import Verdict


@dataclass
class Row:
    """One story."""

    story: str
    title: str
    requirements: tuple[str, ...] = ()
    phase: Phase = Phase.QUEUED
    step: str | None = None
    verdict: Verdict | None = None
    seconds: float | None = None
    """From its start to the last line about it."""
    run: str | None = None
    headline: str | None = None

    @property
    def over(self) -> bool:
        return self.phase in (Phase.DONE, Phase.SKIPPED)


@dataclass
class Board:
    """All stories, in the order in which they were announced. Times are monotonic seconds."""

    began: float
    rows: dict[str, Row] = field(default_factory=dict)

    def apply(self, line: Mapping[str, Any]) -> Row:
        """Take in one progress line; gives the row that it changed."""
        row = self.rows.setdefault(line["story"], Row(line["story"], line["title"], tuple(line["requirements"])))
        row.phase = Phase(line["phase"])
        row.seconds = line["seconds"]
        row.step = line["step"] or row.step
        row.run = line["run"] or row.run
        row.headline = line["headline"] or row.headline
        row.verdict = Verdict(line["verdict"]) if line["verdict"] else row.verdict
        return row

    def close(self) -> None:
        """The suite ended: what is not over never will be, and that is no pass."""
        for row in self.rows.values():
            if not row.over:
                row.headline = f"it ended while {row.phase}" + (f", {row.step}" if row.step else "")
                row.phase, row.verdict = Phase.DONE, Verdict.INFRASTRUCTURE

    @property
    def done(self) -> list[Row]:
        return [row for row in self.rows.values() if row.over]

    @property
    def running(self) -> list[Row]:
        return [row for row in self.rows.values() if not row.over and row.phase is not Phase.QUEUED]

    @property
    def failed(self) -> list[Row]:
        """Everything that did not pass, the worst verdict first."""
        order = (Verdict.VIOLATION, Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE)
        return [row for verdict in order for row in self.done if row.verdict is verdict]

    def slowest(self, number: int = 3) -> list[Row]:
        timed = [row for row in self.done if row.phase is Phase.DONE and row.seconds is not None]
        return sorted(timed, key=lambda row: -(row.seconds or 0))[:number]

    def counts(self) -> Counter[Verdict]:
        return Counter(row.verdict for row in self.done if row.verdict is not None)

    @property
    def skipped(self) -> int:
        return sum(row.phase is Phase.SKIPPED for row in self.done)

    def left(self, now: float) -> float | None:
        """About how many seconds are left, at the pace so far; None before anything is over, and at the end."""
        over = len([row for row in self.done if row.phase is Phase.DONE])
        waiting = len(self.rows) - len(self.done)
        return None if not over or not waiting else (now - self.began) / over * waiting

    @property
    def verdict(self) -> Verdict:
        """The worst of all. Nothing that was judged is inconclusive: it shows nothing."""
        judged = [row.verdict for row in self.done if row.verdict is not None]
        return Verdict.worst(judged) if judged else Verdict.INCONCLUSIVE
