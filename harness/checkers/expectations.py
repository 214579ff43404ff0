"""What the steps of a plan claim, held against what the journal says of them.

- Only what was *sent* after the instant that a step names (`after`) is judged: what was under way may complete.
- `must`: each judged answer was as claimed. `never`: none was. `may`: counted and told.
- Nothing to judge is inconclusive, never a pass. An `absent` probe was not sent, and a `misdirected` one came to a node
  that no longer had the role the plan names: there is nothing to judge in either.
- A claim that stands for a listed difference of the target is judged as any other; that it does not show is told as
  what it is: the list is out of date.
- A node that ends by itself is infrastructure, whatever else is found, unless a step waits for it, or its disk is
  broken, or it is a duplicate (which may be refused for good): no rule says that nodes must not crash, but nothing is
  proven by one that did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from faults import disks
from harness.checkers.coverage import matches
from harness.checkers.instants import read_instants
from harness.checkers.misled import misled
from harness.plan.base import After, Expect, ExpectOutcome, Level
from harness.plan.conditions import AwaitStep, NodeExited
from harness.plan.model import Plan
from harness.plan.probes import ProbeStep
from harness.plan.steps import Produce
from results.records.events import Event
from results.records.journal import Journal
from results.records.verdict import Counterexample, Finding, Verdict

_OF_DISKS = frozenset(fault.name for fault in disks.FAULTS)
_TIMED_OUT = 7
UNREADABLE = "unreadable"
"""What was answered may be what was expected, or what must never be."""
NOT_JUDGED = ("absent", "misdirected")
COLUMNS = ("sent at s", "node", "outcome", "error", "answer")


@dataclass(frozen=True)
class Attempt:
    """One request of a step and what came of it. `changed` is None if that was not, or could not be, looked at."""

    sent: float
    node: str | None
    outcome: str
    error: int | None
    body: Mapping[str, Any]
    changed: Mapping[str, Any] | None = None

    @property
    def is_late(self) -> bool:
        """Nobody said no: there was no answer in time, or that there was none."""
        return self.outcome == "unanswered" or self.error == _TIMED_OUT

    def is_as(self, outcome: str) -> bool:
        return matches(outcome, {"outcome": self.outcome, "error": self.error})

    @property
    def row(self) -> tuple[Any, ...]:
        said = ", ".join(f"{key}={value}" for key, value in self.body.items() if key != "error" and value is not None)
        return (round(self.sent, 3), self.node, self.outcome, self.body.get("error", self.error), said)


def check(plan: Plan, journal: Journal) -> list[Finding]:
    """One finding for each thing that kept claims from being judged, and for each claim."""
    instants = read_instants(journal)
    ends = {event.id: event for event in journal.of("step", "end")}
    attempts = _attempts(journal)
    findings: list[Finding] = []
    for place, step in enumerate(plan.steps):
        name = plan.step_name(place)
        if isinstance(step, ProbeStep | Produce):
            judged = _sent_after(step.after, attempts.get(name, []), instants)
            if step.expect is not None:
                findings.append(_answers(name, step.expect, judged))
            if isinstance(step, ProbeStep) and step.unchanged:
                findings.append(_unchanged(name, step, judged))
        elif isinstance(step, AwaitStep) and step.expect is not None:
            findings.append(_condition(name, step.expect, step.within_ms, ends.get(name)))
    return [*_broken_off(plan, ends), *findings, *_exits(plan, journal, ends)]


def _attempts(journal: Journal) -> Mapping[str, list[Attempt]]:
    """By step. Probes name theirs; a produce step's records carry its name as their process. The record of a probe is
    journalled as well, for the data plane; it is the probe that is judged."""
    ends = {event.id: event for event in journal.of("op", "ok", "fail", "info")}
    probes: dict[str, list[Attempt]] = {}
    records: dict[str, list[Attempt]] = {}
    for begun in journal.of("op", "invoke"):
        end = ends.get(begun.id)
        if begun.data.get("f") == "probe":
            probes.setdefault(begun.data["step"], []).append(_probe(begun, end))
        elif begun.data.get("f") == "send":
            records.setdefault(begun.data["process"], []).append(_record(begun, end))
    return {**records, **probes}


def _probe(begun: Event, end: Event | None) -> Attempt:
    if end is None:
        return Attempt(begun.t, begun.node, "unanswered", None, {"reason": "the run ended first"})
    data = end.data
    return Attempt(begun.t, begun.node, data["outcome"], data["error"], data["body"], data.get("changed"))


def _record(begun: Event, end: Event | None) -> Attempt:
    """A record of a burst. Errors below zero are the client's own: nobody answered."""
    value = {"value": begun.data["value"]}
    if end is not None and end.phase == "ok":
        return Attempt(begun.t, begun.node, "served", None, value | {"offset": end.data.get("offset")})
    code = None if end is None else end.data.get("code")
    if end is None or code is None or code < 0:
        return Attempt(begun.t, begun.node, "unanswered", None, value)
    return Attempt(begun.t, begun.node, "refused", code, value | {"error": end.data.get("error")})


def _sent_after(after: After | None, attempts: list[Attempt], instants: Mapping[str, float]) -> list[Attempt]:
    sent = [attempt for attempt in attempts if attempt.outcome not in NOT_JUDGED]
    if after is None:
        return sent
    if after.event not in instants:
        return []
    since = instants[after.event] + after.plus_ms / 1000
    return [attempt for attempt in sent if attempt.sent >= since]


def _answers(name: str, expect: ExpectOutcome, judged: list[Attempt]) -> Finding:
    if not judged:
        return _finding(expect, name, Verdict.INCONCLUSIVE, f"`{name}` asked nothing that could be judged.")
    unreadable = sum(attempt.outcome == UNREADABLE for attempt in judged)
    seen = [attempt for attempt in judged if attempt.is_as(expect.outcome)]
    others = [attempt for attempt in judged if not (attempt.is_as(expect.outcome) or attempt.outcome == UNREADABLE)]
    count = f"{len(seen)} of {len(judged)} answers to `{name}` were `{expect.outcome}`"
    match expect.level:
        case Level.MAY:
            shown = expect if seen else expect.model_copy(update={"difference": None})
            return _finding(shown, name, Verdict.PASS, f"{count}, which may be.")
        case Level.NEVER if seen:
            return _broken(expect, name, f"{count}, which must never be; the first: {_told(seen[0])}.", seen)
        case Level.MUST if others:
            finding = _broken(
                expect, name, f"{count}, and all must be; the first that was not: {_told(others[0])}.", others
            )
            return replace(finding, evidence={**finding.evidence, "only_late": all(each.is_late for each in others)})
        case Level.MUST | Level.NEVER if unreadable:
            sentence = f"{unreadable} of {len(judged)} answers to `{name}` could not be read."
            return _finding(expect, name, Verdict.INCONCLUSIVE, sentence)
        case Level.NEVER:
            return _finding(expect, name, Verdict.PASS, f"{count}, which must never be.")
        case _:
            return _finding(expect, name, Verdict.PASS, f"{count}, as all must be.")


def _told(attempt: Attempt) -> str:
    error = f" {attempt.body.get('error', attempt.error)}" if attempt.error is not None else ""
    return f"{attempt.outcome}{error} from {attempt.node or 'the cluster'} at {attempt.sent:.2f} s"


def _unchanged(name: str, step: ProbeStep, judged: list[Attempt]) -> Finding:
    what = ", ".join(step.unchanged)
    changed = [attempt for attempt in judged if attempt.changed]
    if changed:
        details = "; ".join(f"{key} from {old} to {new}" for key, (old, new) in (changed[0].changed or {}).items())
        return _broken(step.expect, name, f"`{name}` was to change nothing, and changed {details}.", changed)
    if not judged or any(attempt.changed is None for attempt in judged):
        sentence = f"Whether `{name}` changed {what} could not be seen: the controllers' log could not be read."
        return _finding(step.expect, name, Verdict.INCONCLUSIVE, sentence)
    return _finding(step.expect, name, Verdict.PASS, f"`{name}` changed nothing of {what}.")


def _condition(name: str, expect: Expect, within_ms: int, end: Event | None) -> Finding:
    outcome = None if end is None else end.data.get("outcome")
    within = f"within {within_ms} ms"
    match expect.level, outcome:
        case _, None | "failed":
            return _finding(expect, name, Verdict.INCONCLUSIVE, f"`{name}` was not waited for.")
        case Level.MAY, _:
            return _finding(expect, name, Verdict.PASS, f"`{name}` {_came(outcome)} {within}, as it may.", end)
        case Level.MUST, "done":
            return _finding(expect, name, Verdict.PASS, f"`{name}` came true {within}, as it must.", end)
        case Level.NEVER, "missed":
            return _finding(expect, name, Verdict.PASS, f"`{name}` did not come true {within}, as it never may.", end)
        case Level.MUST, _:
            sentence = end.data.get("sentence", f"it did not come true {within}") if end else ""
            return _broken(expect, name, f"`{name}` must come true: {sentence}.", [], end)
        case _:
            return _broken(expect, name, f"`{name}` came true {within}, and must never.", [], end)


def _came(outcome: object) -> str:
    return "came true" if outcome == "done" else "did not come true"


def _broken_off(plan: Plan, ends: Mapping[str, Event]) -> Iterator[Finding]:
    """A step that could not be done. One that failed its own claim is told by that claim."""
    claimed = {plan.step_name(place) for place, step in enumerate(plan.steps) if getattr(step, "expect", None)}
    for name, end in ends.items():
        outcome = end.data.get("outcome")
        if outcome == "failed" or (outcome == "missed" and name not in claimed):
            yield Finding(
                Verdict.INCONCLUSIVE,
                check="story",
                title="The story could not be told to its end",
                sentence=f"At `{name}`: {end.data.get('sentence', outcome)}.",
                at=end.t,
            )


def _exits(plan: Plan, journal: Journal, ends: Mapping[str, Event]) -> Iterator[Finding]:
    expected = {node.name for node in plan.topology.nodes if node.duplicate_of is not None}
    for place, step in enumerate(plan.steps):
        if isinstance(step, NodeExited):
            expected.add(_awaited(step, ends.get(plan.step_name(place)), ends))
    for event in journal.of("node", "exited"):
        if event.id not in expected and not (_over_its_disk(event, journal) or misled(event, journal)):
            yield Finding(
                Verdict.INFRASTRUCTURE,
                check="nodes",
                title="A node ended by itself",
                sentence=event.data.get("sentence")
                or f"{event.id} ended with exit code {event.data.get('exit_code')}.",
                at=event.t,
            )


def _awaited(step: NodeExited, end: Event | None, ends: Mapping[str, Event]) -> str:
    """The node that the step waited for; of a step that did not come to its end, the one that the plan names."""
    if end is not None and "node" in end.data:
        return str(end.data["node"])
    bound = ends.get(step.node.removeprefix("$"))
    return str(bound.data.get("bound", "")) if bound and step.node.startswith("$") else step.node


def _over_its_disk(exited: Event, journal: Journal) -> bool:
    """Whether its disk was broken, or had been until after its start: a node may end over that."""
    broken: set[str] = set()
    started = -inf
    for event in journal.of("node", "started"):
        if event.id == exited.id and event.t <= exited.t:
            started = event.t
    for event in journal.of("fault", "intent", "healed"):
        hit = event.data.get("params", {}).get("node") if event.data.get("fault") in _OF_DISKS else None
        if event.t <= exited.t and hit == exited.id:
            broken.add(event.id)
        elif event.phase == "healed" and event.t <= started:
            broken.discard(event.id)
    return bool(broken)


def _broken(
    expect: Expect | None, name: str, sentence: str, attempts: list[Attempt], end: Event | None = None
) -> Finding:
    if expect is not None and expect.difference is not None:
        sentence = f"The listed difference {expect.difference} no longer shows: {sentence}"
    table = Counterexample.of(COLUMNS, [attempt.row for attempt in attempts]) if attempts else None
    at = attempts[0].sent if attempts else end.t if end else None
    return _finding(expect, name, Verdict.VIOLATION, sentence, end, at=at, counterexample=table)


def _finding(
    expect: Expect | None,
    name: str,
    verdict: Verdict,
    sentence: str,
    end: Event | None = None,
    *,
    at: float | None = None,
    counterexample: Counterexample | None = None,
) -> Finding:
    return Finding(
        verdict=verdict,
        check="expectations",
        title=name,
        sentence=sentence,
        requirement=expect.requirement if expect else None,
        level=expect.level.value if expect else None,
        difference=expect.difference if expect else None,
        at=at if at is not None or end is None else end.t,
        evidence={"step": name},
        counterexample=counterexample,
    )
