"""The findings of checks (`Finding`) and the verdict of a run (`RunVerdict`), and their file `verdict.json`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from fencepost.results.records.files import as_json, from_json, read_json, write_json
from fencepost.results.records.formats import VERDICT_FORMAT, is_readable, upgrade_verdict
from fencepost.results.records.requirements import RequirementResult, RequirementState


class Verdict(StrEnum):
    """The result of a check or a run. Only `PASS` says that a guarantee held."""

    PASS = "pass"
    VIOLATION = "violation"
    INFRASTRUCTURE = "infrastructure"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> int:
        """Return the exit code of commands: 0 pass, 1 violation, 2 infrastructure, 3 inconclusive."""
        return _EXIT_CODES[self]

    @classmethod
    def worst(cls, verdicts: Iterable["Verdict"]) -> "Verdict":
        """Return the verdict of the whole: a violation stands above all others, a pass below all others."""
        return max(verdicts, key=_RANKS.__getitem__, default=cls.PASS)


_EXIT_CODES = {Verdict.PASS: 0, Verdict.VIOLATION: 1, Verdict.INFRASTRUCTURE: 2, Verdict.INCONCLUSIVE: 3}
WRONG_USAGE = 64
"""Exit code of commands that were called wrongly: EX_USAGE of sysexits.h (decision 0045)."""
DAMAGED = 65
"""Exit code of commands that met damaged files in a results store: EX_DATAERR of sysexits.h (decision 0087)."""
_RANKS = {Verdict.PASS: 0, Verdict.INCONCLUSIVE: 1, Verdict.INFRASTRUCTURE: 2, Verdict.VIOLATION: 3}


class Basis(StrEnum):
    """The evidence of a violation, which decides what can withdraw it.

    PRESENCE: events that contradict each other. No further event could reconcile them.
    ABSENCE: an event that the journal lacks. A damaged journal proves no absence.
    FAULT: the time or the effect of a fault. It proves nothing if the faults are in doubt.
    """

    PRESENCE = "presence"
    ABSENCE = "absence"
    FAULT = "fault"


Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Rows that show a violation. `rows` is bounded; `total` counts all that were found.

    Rows before `gap` are the first ones of the whole, those from `gap` on its last. `context` has intact rows that
    precede the first one. Cells have JSON's types.
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
        """Return a counterexample with the first `head` and the last `tail` rows."""
        kept = rows if len(rows) <= head + tail else [*rows[:head], *rows[len(rows) - tail :]]
        return cls(tuple(columns), _rows(kept), len(rows), min(head, len(rows)), _rows(context))

    @property
    def omitted(self) -> int:
        return self.total - len(self.rows)


def _rows(rows: Iterable[Sequence[Any]]) -> tuple[Row, ...]:
    return tuple(tuple(row) for row in rows)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. A check that passed has a finding, too, which says how much it judged.

    `requirement` is an id of the catalogue, `also` has further ones that the same check judges. `level` is must, may or
    never, `check` is the name of the check.
    `difference` is the id of the target's listed difference that the expectation follows in place of the document.
    `at` is the time at which it showed, in seconds since the run began.
    `part_of` is the check of the finding that describes the same events as a whole; reports show that one.
    """

    verdict: Verdict
    check: str
    title: str
    message: str
    requirement: str | None = None
    level: str | None = None
    difference: str | None = None
    at: float | None = None
    basis: Basis = Basis.FAULT
    evidence: Mapping[str, Any] = field(default_factory=dict)
    counterexample: Counterexample | None = None
    also: tuple[str, ...] = ()
    part_of: str | None = None

    @property
    def requirements(self) -> tuple[str, ...]:
        """Return the ids of all requirements that the check judges; none for a check of the run itself."""
        return (self.requirement, *self.also) if self.requirement is not None else self.also

    def withdrawn(self, reason: str) -> "Finding":
        """Return the finding as inconclusive, with the reason in its message."""
        return replace(
            self, verdict=Verdict.INCONCLUSIVE, message=f"{self.message} Not held against the target: {reason}"
        )


def requirement_states(findings: Iterable[Finding], named: Iterable[str] = ()) -> dict[str, RequirementState]:
    """Return the state of each requirement that a finding judges, in their order, and then of those only `named`.

    A rule is held only over what was judged: a check that says no number, or none, exercises nothing.
    """
    states: dict[str, RequirementState] = {}
    for finding in findings:
        state = _state(finding)
        for rule in finding.requirements:
            states[rule] = min(state, states.get(rule, state), key=_WEIGHTS.index)
    return states | {rule: RequirementState.NOT_EXERCISED for rule in named if rule not in states}


def _states_of_earlier(findings: Iterable[Finding]) -> dict[str, RequirementState]:
    """Return the states in a verdict of an earlier format, whose claims did not say over how many answers they held."""
    return requirement_states(replace(each, evidence={"judged": 1, **each.evidence}) for each in findings)


_WEIGHTS = list(RequirementState)


def _state(finding: Finding) -> RequirementState:
    if finding.verdict is Verdict.VIOLATION:
        return RequirementState.BROKEN
    if finding.verdict is not Verdict.PASS:
        return RequirementState.NOT_COVERED
    if finding.difference is not None:
        return RequirementState.AS_LISTED
    return RequirementState.HELD if finding.evidence.get("judged") else RequirementState.NOT_EXERCISED


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict of a run. `duration` is in seconds; `events` and `torn` are counts of the journal.

    `requirements` has those that the findings judge, and those that the plan names and nothing exercised.
    `planted_defect` names the mutant that nodes ran with; it stands in the headline, too.
    """

    verdict: Verdict
    headline: str
    scenario: str
    target: str
    plan_hash: str
    duration: float
    events: int
    torn: int
    findings: tuple[Finding, ...]
    requirements: tuple[RequirementResult, ...] = ()
    planted_defect: str = ""

    def of(self, verdict: Verdict) -> tuple[Finding, ...]:
        """Return the findings with this verdict."""
        return tuple(finding for finding in self.findings if finding.verdict is verdict)

    def shown(self, verdict: Verdict) -> tuple[Finding, ...]:
        """Return the findings with this verdict that reports show: without those that are part of another."""
        return tuple(finding for finding in self.of(verdict) if finding.part_of is None)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as `verdict.json` has it."""
        return {"format": VERDICT_FORMAT, "exit_code": self.verdict.exit_code, **as_json(self)}

    @property
    def not_exercised(self) -> tuple[str, ...]:
        """Return the ids of the requirements that the plan names or a check is for, and that nothing judged."""
        return tuple(each.id for each in self.requirements if each.state is RequirementState.NOT_EXERCISED)

    def requirement(self, name: str | None) -> RequirementResult | None:
        """Return the result of one requirement, or None if this run has none of this id."""
        return next((each for each in self.requirements if each.id == name), None)

    def save(self, path: Path) -> None:
        write_json(path, self.to_json())

    @classmethod
    def load(cls, path: Path) -> "RunVerdict":
        """Read a verdict. Raise OSError, or ValueError for a file that is none, or is of a later format."""
        value = read_json(path)
        if not is_readable(value.get("format"), VERDICT_FORMAT):
            raise ValueError(f"{path} has the format {value.get('format')!r}; this version reads {VERDICT_FORMAT!r}")
        upgrade_verdict(value)
        verdict = from_json(cls, value)
        if "requirements" in value:
            return verdict
        states = _states_of_earlier(verdict.findings)
        return replace(verdict, requirements=tuple(RequirementResult(*each) for each in states.items()))
