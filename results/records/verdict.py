"""Verdicts: of one check (`Finding`) and of a whole run (`RunVerdict`)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from results.records.folder import write_json

VERDICT_FORMAT = "fencepost-verdict/1"


class Verdict(Enum):
    """How something ended. Only `PASS` says that a guarantee held."""

    PASS = "pass"
    VIOLATION = "violation"
    INFRASTRUCTURE = "infrastructure"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self]

    @classmethod
    def worst(cls, verdicts: Iterable["Verdict"]) -> "Verdict":
        """The verdict of the whole. A violation stands whatever else happened; what failed is never a pass."""
        return max(verdicts, key=_RANKS.__getitem__, default=cls.PASS)


_EXIT_CODES = {Verdict.PASS: 0, Verdict.VIOLATION: 1, Verdict.INFRASTRUCTURE: 2, Verdict.INCONCLUSIVE: 3}
_RANKS = {Verdict.PASS: 0, Verdict.INCONCLUSIVE: 1, Verdict.INFRASTRUCTURE: 2, Verdict.VIOLATION: 3}


class Basis(Enum):
    """What a violation rests on, and so what can take it back.

    PRESENCE: events that contradict each other. No further event could reconcile them.
    ABSENCE: something that the journal lacks. A damaged journal proves no absence.
    FAULT: the time or the effect of a fault. Worth nothing when the faults were not what they seemed.
    """

    PRESENCE = "presence"
    ABSENCE = "absence"
    FAULT = "fault"


Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Rows that show a violation. `rows` is bounded; `total` counts all there were.

    Rows from `gap` on are the last ones of the whole, those before are its first. `context` are rows just before the
    first one, which are as they should be. Cells are what JSON knows.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    total: int
    gap: int
    context: tuple[Row, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        context: Sequence[Sequence[Any]] = (),
        head: int = 10,
        tail: int = 2,
    ) -> "Counterexample":
        """Keep the first `head` and the last `tail` rows."""
        kept = rows if len(rows) <= head + tail else [*rows[:head], *rows[len(rows) - tail :]]
        return cls(tuple(columns), _rows(kept), len(rows), min(head, len(rows)), _rows(context))

    @property
    def omitted(self) -> int:
        return self.total - len(self.rows)

    def to_json(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "total": self.total,
            "gap": self.gap,
            "context": [list(row) for row in self.context],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Counterexample":
        return cls(tuple(value["columns"]), _rows(value["rows"]), value["total"], value["gap"], _rows(value["context"]))


def _rows(rows: Iterable[Sequence[Any]]) -> tuple[Row, ...]:
    return tuple(tuple(row) for row in rows)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. A check that passed is a finding too: it says how much it judged.

    `requirement` is an id of the catalogue, `level` is must, may or never, `check` names the function that judged.
    `difference` is the id of the target's listed difference that the expectation follows in place of the document.
    `at` is when it showed, in seconds since the run began.
    """

    verdict: Verdict
    check: str
    title: str
    sentence: str
    requirement: str | None = None
    level: str | None = None
    difference: str | None = None
    at: float | None = None
    basis: Basis = Basis.FAULT
    evidence: Mapping[str, Any] = field(default_factory=dict)
    counterexample: Counterexample | None = None

    def withdrawn(self, reason: str) -> "Finding":
        """The same observation, from which nothing may be concluded."""
        return replace(
            self, verdict=Verdict.INCONCLUSIVE, sentence=f"{self.sentence} Not held against the target: {reason}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict.value,
            "check": self.check,
            "title": self.title,
            "sentence": self.sentence,
            "requirement": self.requirement,
            "level": self.level,
            "difference": self.difference,
            "at": self.at,
            "basis": self.basis.value,
            "evidence": dict(self.evidence),
            "counterexample": self.counterexample and self.counterexample.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Finding":
        table = value["counterexample"]
        return cls(
            verdict=Verdict(value["verdict"]),
            check=value["check"],
            title=value["title"],
            sentence=value["sentence"],
            requirement=value["requirement"],
            level=value["level"],
            difference=value["difference"],
            at=value["at"],
            basis=Basis(value["basis"]),
            evidence=value["evidence"],
            counterexample=table and Counterexample.from_json(table),
        )


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict of a run. `duration` is in seconds; `events` and `torn` say what the journal gave."""

    verdict: Verdict
    headline: str
    story: str
    target: str
    plan_hash: str
    duration: float
    events: int
    torn: int
    findings: tuple[Finding, ...]

    def of(self, verdict: Verdict) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict is verdict)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": VERDICT_FORMAT,
            "verdict": self.verdict.value,
            "exit_code": self.verdict.exit_code,
            "headline": self.headline,
            "story": self.story,
            "target": self.target,
            "plan_hash": self.plan_hash,
            "duration": self.duration,
            "events": self.events,
            "torn": self.torn,
            "findings": [finding.to_json() for finding in self.findings],
        }

    def save(self, path: Path) -> None:
        write_json(path, self.to_json())

    @classmethod
    def load(cls, path: Path) -> "RunVerdict":
        """Raises ValueError for a file of another format."""
        value = json.loads(path.read_text())
        if value.get("format") != VERDICT_FORMAT:
            raise ValueError(f"{path} has the format {value.get('format')!r}; this version reads {VERDICT_FORMAT!r}")
        return cls(
            verdict=Verdict(value["verdict"]),
            headline=value["headline"],
            story=value["story"],
            target=value["target"],
            plan_hash=value["plan_hash"],
            duration=value["duration"],
            events=value["events"],
            torn=value["torn"],
            findings=tuple(Finding.from_json(each) for each in value["findings"]),
        )
