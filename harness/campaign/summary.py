"""What a campaign came to: plans, verdicts, coverage, and each failure with the command that replays it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.campaign.campaign import Order
from harness.campaign.coverage import Meeting, table
from harness.campaign.planner import VERSION, LeftOut
from harness.reproduction.command import replay_command
from results.records.verdict import Verdict

FORMAT = "fencepost-campaign/1"


@dataclass(frozen=True)
class Outcome:
    """One plan of a campaign that came to its end. `run` is None if it left no folder."""

    number: int
    seed: int
    title: str
    verdict: Verdict
    seconds: float
    headline: str
    run: str | None
    differences: tuple[str, ...] = ()
    """Listed differences of the target that showed."""

    @property
    def replay(self) -> str | None:
        return None if self.run is None else replay_command(Path(self.run))


@dataclass(frozen=True)
class Summary:
    order: Order
    seconds: float
    outcomes: tuple[Outcome, ...]
    interrupted: int
    """Plans that had begun when somebody ended the campaign; they are in no count."""
    met: tuple[Meeting, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of all. Nothing that ended is inconclusive: it shows nothing."""
        if not self.outcomes:
            return Verdict.INCONCLUSIVE
        return Verdict.worst(outcome.verdict for outcome in self.outcomes)

    def counts(self) -> Mapping[Verdict, int]:
        counted = Counter(outcome.verdict for outcome in self.outcomes)
        return {verdict: counted[verdict] for verdict in Verdict}

    @property
    def failures(self) -> list[Outcome]:
        """Everything that did not pass, the worst verdict first."""
        order = (Verdict.VIOLATION, Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE)
        return [outcome for verdict in order for outcome in self.outcomes if outcome.verdict is verdict]

    def differences(self) -> Mapping[str, Sequence[Outcome]]:
        """By listed difference, the runs in which it showed."""
        shown = sorted({difference for outcome in self.outcomes for difference in outcome.differences})
        return {each: [outcome for outcome in self.outcomes if each in outcome.differences] for each in shown}

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "planner": VERSION,
            **asdict(self.order),
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
    """The coverage as a table: roles as columns, a row a fault; a cell counts, and names the states that were not the
    usual one. Empty: never met."""
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


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {**asdict(outcome), "verdict": outcome.verdict.value, "replay": outcome.replay}
