"""The state of a suite while it runs: progress lines change it, and its caller passes the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.harness.cli.eta import EtaEstimator
from fencepost.results.records.progress import Phase
from fencepost.results.records.verdict import Verdict


@dataclass
class Row:
    """One scenario."""

    scenario: str
    title: str
    requirements: tuple[str, ...] = ()
    phase: Phase = Phase.QUEUED
    step: str | None = None
    verdict: Verdict | None = None
    seconds: float | None = None
    """Seconds from its start to the latest line about it."""
    run: str | None = None
    headline: str | None = None

    @property
    def over(self) -> bool:
        return self.phase in (Phase.DONE, Phase.SKIPPED)


@dataclass
class Board:
    """All scenarios, in the order in which they were announced. Times are monotonic seconds."""

    began: float
    rows: dict[str, Row] = field(default_factory=dict)
    quarantined: Mapping[str, str] = field(default_factory=dict)
    """Scenarios that do not fail the suite, with the reasons."""

    def apply(self, line: Mapping[str, Any]) -> Row:
        """Apply one progress line and return the row that it changed."""
        row = self.rows.setdefault(line["scenario"], Row(line["scenario"], line["title"], tuple(line["requirements"])))
        row.phase = Phase(line["phase"])
        row.seconds = line["seconds"]
        row.step = line["step"] or row.step
        row.run = line["run"] or row.run
        row.headline = line["headline"] or row.headline
        row.verdict = Verdict(line["verdict"]) if line["verdict"] else row.verdict
        return row

    def close(self) -> None:
        """End the suite: give each scenario that is not over the verdict infrastructure."""
        for row in self.rows.values():
            if not row.over:
                row.headline = f"the suite ended while it was {row.phase}" + (f", {row.step}" if row.step else "")
                row.phase, row.verdict = Phase.DONE, Verdict.INFRASTRUCTURE

    @property
    def done(self) -> list[Row]:
        return [row for row in self.rows.values() if row.over]

    @property
    def running(self) -> list[Row]:
        return [row for row in self.rows.values() if not row.over and row.phase is not Phase.QUEUED]

    @property
    def failed(self) -> list[Row]:
        """The scenarios that did not pass, the worst verdict first."""
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
        """Return about how many seconds are left; None before the first scenario has ended, and at the end."""
        ran = sum(row.phase is Phase.DONE for row in self.done)
        return EtaEstimator(self.began).left(now, done=ran, waiting=len(self.rows) - len(self.done))

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all; inconclusive if no scenario was judged, because that shows nothing.

        Of the scenarios in quarantine only those that passed count.
        """
        counting = (row for row in self.done if row.verdict is Verdict.PASS or row.scenario not in self.quarantined)
        judged = [row.verdict for row in counting if row.verdict is not None]
        return Verdict.worst(judged) if judged else Verdict.INCONCLUSIVE
