"""The summary of a campaign: verdicts, coverage, and each failure with the command that replays it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fencepost.harness.campaign.campaign import Order
from fencepost.harness.campaign.coverage import Meeting, table
from fencepost.harness.campaign.planner import VERSION, LeftOut
from fencepost.harness.report.suite_results import ScenarioResult, SuiteResult
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.verdict import Verdict

FORMAT = "fencepost-campaign/1"


@dataclass(frozen=True)
class PlanOutcome:
    """The result of one plan of a campaign. `run` is None if it left no folder."""

    number: int
    seed: int
    title: str
    verdict: Verdict
    seconds: float
    headline: str
    run: str | None
    differences: tuple[str, ...] = ()
    """Listed differences of the target that showed."""
    planted_defect: str = ""
    """The mutant that the nodes ran with."""

    @property
    def replay(self) -> str | None:
        return None if self.run is None else replay_command(Path(self.run))


@dataclass(frozen=True)
class Summary:
    order: Order
    seconds: float
    outcomes: tuple[PlanOutcome, ...]
    interrupted: int
    """The number of plans that were running when the campaign was interrupted; they are in no count."""
    met: tuple[Meeting, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict. A campaign without an ended plan is inconclusive."""
        if not self.outcomes:
            return Verdict.INCONCLUSIVE
        return Verdict.worst(outcome.verdict for outcome in self.outcomes)

    def counts(self) -> Mapping[Verdict, int]:
        counted = Counter(outcome.verdict for outcome in self.outcomes)
        return {verdict: counted[verdict] for verdict in Verdict}

    @property
    def failures(self) -> list[PlanOutcome]:
        """The runs that did not pass, the worst verdict first."""
        order = (Verdict.VIOLATION, Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE)
        return [outcome for verdict in order for outcome in self.outcomes if outcome.verdict is verdict]

    def differences(self) -> Mapping[str, Sequence[PlanOutcome]]:
        """Return the runs in which each listed difference showed."""
        shown = sorted({difference for outcome in self.outcomes for difference in outcome.differences})
        return {each: [outcome for outcome in self.outcomes if each in outcome.differences] for each in shown}

    def as_suite(self) -> SuiteResult:
        """Return the results as those of a suite: each plan that ended is a scenario without declared requirements."""
        name, _, version = self.order.target.partition(":")
        return SuiteResult(
            target=name,
            target_version=version,
            backend=self.order.backend,
            seed=self.order.seed,
            started=time.time() - self.seconds,
            seconds=self.seconds,
            scenarios=tuple(map(_scenario, self.outcomes)),
            interrupted=self.interrupted > 0,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "planner": VERSION,
            **self.order.to_json(),
            "seconds": round(self.seconds, 1),
            "verdict": self.verdict.value,
            "exit_code": self.verdict.exit_code,
            "counts": {verdict.value: number for verdict, number in self.counts().items()},
            "interrupted": self.interrupted,
            "outcomes": [_outcome(outcome) for outcome in self.outcomes],
            "failures": [_outcome(outcome) for outcome in self.failures],
            "differences": {each: [outcome.seed for outcome in runs] for each, runs in self.differences().items()},
            "coverage": table(list(self.met)),
            "left_out": [asdict(each) for each in self.left_out],
        }


def grid(met: Iterable[Meeting]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return the coverage as a table: a column for each role, a row for each fault.

    A cell has the count, and the states other than `serving`. It is empty if the fault never met the role.
    """
    counted = Counter(met)
    roles = sorted({meeting.role for meeting in counted})
    rows = []
    for fault in sorted({meeting.fault for meeting in counted}):
        cells = []
        for role in roles:
            states = {m.state: n for m, n in counted.items() if (m.fault, m.role) == (fault, role)}
            cells.append(_cell(states))
        rows.append((fault, cells))
    return roles, rows


def _cell(states: Mapping[str, int]) -> str:
    if not states:
        return ""
    unusual = [f"{number} {state}" for state, number in sorted(states.items()) if state != "serving"]
    return f"{sum(states.values())}" + (f" ({', '.join(unusual)})" if unusual else "")


def _scenario(outcome: PlanOutcome) -> ScenarioResult:
    result = ScenarioResult(
        scenario=f"plan-{outcome.seed}",
        title=outcome.title,
        requirements=(),
        verdict=outcome.verdict,
        seconds=outcome.seconds,
        headline=outcome.headline,
    )
    return result if outcome.run is None else result.with_run(Path(outcome.run))


def _outcome(outcome: PlanOutcome) -> dict[str, Any]:
    return {**asdict(outcome), "verdict": outcome.verdict.value, "replay": outcome.replay}
