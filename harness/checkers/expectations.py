"""Judge the expectations of a plan's steps by the journal.

- Only requests that were *sent* after the instant that a step names (`after`) are judged: earlier ones may complete.
- `must`: each judged answer was as expected. `never`: none was. `may`: counted and reported; without
  any that was as allowed nothing is exercised.
- Nothing to judge is inconclusive, never a pass. An `absent` probe was not sent, and a `misdirected` one came to a node
  that no longer had the role that the plan names: neither is judged.
  An `optional` claim is not exercised then: random plans also ask nodes that may be down.
- A request that the release does not have is `not-asked`. Its claim is reported as such and not judged; if all claims
  of a plan are, the run is inconclusive.
- A run that was ended because one claim was broken did not try its later steps: their claims are reported as such.
- Answers that show a known bug of the release are counted, and the others are judged. If there is no other, the claim
  is reported as known.
- An expectation of a listed difference of the target is judged as any other. If the difference does not show, the
  message says that the list is out of date.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fencepost.harness.checkers.check import RunCheck
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.coverage import matches
from fencepost.harness.checkers.early_end import EarlyEnd, early_end
from fencepost.harness.checkers.instants import read_instants
from fencepost.harness.checkers.starvation import excuse_starved
from fencepost.harness.plan.base import After, Expect, ExpectOutcome, KnownBug, Level
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.produce import Produce
from fencepost.results.records.events import CONVERGE, Event
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Counterexample, Finding, Verdict

_TIMED_OUT = 7
_VACANT = frozenset({5, 6, 8, 9, 14, 15, 16, 19, 20, 25, 41, 80, 83})
"""The errors that say that a role is vacant or moves: of leaders, coordinators and controllers, and too few in sync. A
member is unknown (25) to a coordinator that has just taken over, if members are kept in memory only, and if it was not
heard in time."""
_OF_ITS_OWN = frozenset({6, 16})
"""Those of them that a broker gives of itself: that it is no leader, no coordinator."""
_OF_RIGHTS = (29, 30, 31)
"""The errors of users without a right, which a broker asks for before it looks at its role."""
UNREADABLE = "unreadable"
"""The outcome of an answer that may have been the expected one, or one that must never be."""
NOT_ASKED = "not-asked"
NOT_JUDGED = ("absent", "misdirected", "awaited", NOT_ASKED)
COLUMNS = ("sent at s", "node", "outcome", "error", "answer")


@dataclass(frozen=True)
class RequestAttempt:
    """One request of a step and its outcome. `changed` is None if changes were not, or could not be, compared."""

    sent: float
    node: str | None
    outcome: str
    error: int | None
    body: Mapping[str, Any]
    changed: Mapping[str, Any] | None = None

    @property
    def is_late(self) -> bool:
        """Return whether the request was not refused, but not answered in time, or answered with a timeout."""
        return self.outcome == "unanswered" or self.error == _TIMED_OUT

    def is_vacant_for(self, expected: str) -> bool:
        """Return whether the answer says that no node had the role that the request needs, and may say so.

        A broker from which the lack of a right is expected has no role to say before that.
        """
        of_rights = any(matches(expected, {"outcome": "refused", "error": error}) for error in _OF_RIGHTS)
        vacant = _VACANT - _OF_ITS_OWN if of_rights else _VACANT
        return self.outcome == "refused" and self.error in vacant

    def is_as(self, outcome: str) -> bool:
        """Return whether the attempt ended with an outcome of the plan, such as `error:74`."""
        return matches(outcome, {"outcome": self.outcome, "error": self.error})

    @property
    def differences(self) -> str:
        """Return the values that are not as the plan claims them, with both: empty unless the answer is `different`."""
        claimed, found = (self.body.get(key) or {} for key in ("claimed", "answered"))
        return "; ".join(
            f"`{key}` is {found[key]!r} and not {value!r}" for key, value in claimed.items() if key in found
        )

    @property
    def row(self) -> tuple[Any, ...]:
        """Return the attempt as a row of a counterexample."""
        shown = ("error", "claimed", "answered") if self.differences else ("error",)
        values = (f"{key}={value}" for key, value in self.body.items() if key not in shown and value is not None)
        said = ", ".join((*([self.differences] if self.differences else []), *values))
        return (round(self.sent, 3), self.node or "", self.outcome, self.named_error, said)

    @property
    def named_error(self) -> Any:
        """Return the error as the answer names it, else its code; empty without an error."""
        known = (each for each in (self.body.get("error"), self.error) if each is not None)
        return next(known, "")


EXPECTATIONS = RunCheck(
    "expectations", "A step of the plan claims a requirement: its answers, or the condition it awaits, are judged."
)
SCENARIO = RunCheck("scenario", "Every step of the plan was done. Else the run is inconclusive.")


@checker(EXPECTATIONS, SCENARIO, rank=90, rests_on=["step:end"])
def check_expectations(plan: Plan, journal: Journal) -> list[Finding]:
    """Judge the steps; a deadline that passed while a node waited for a processor is not held against it."""
    return excuse_starved(plan, journal, check(plan, journal))


def check(plan: Plan, journal: Journal) -> list[Finding]:
    """Return a finding for each expectation, and each step that was not done."""
    instants = read_instants(journal)
    ends = {event.id: event for event in journal.of("step", "end")}
    attempts = _attempts(journal)
    end = early_end(journal)
    findings: list[Finding] = []
    for place, step in enumerate(plan.steps):
        name = plan.step_name(place)
        if end is not None and name in end.untried:
            findings += _untried(name, step, end)
        elif isinstance(step, ProbeStep | Produce):
            if reason := _why_not_asked(attempts.get(name, [])):
                findings += _not_asked(name, step, reason)
                continue
            judged = _sent_after(step.after, attempts.get(name, []), instants)
            if step.expect is not None:
                findings.append(_answers(name, step.expect, judged))
            if isinstance(step, ProbeStep) and step.unchanged:
                findings.append(_unchanged(name, step, judged))
        elif isinstance(step, AwaitStep) and step.expect is not None:
            findings.append(_condition(name, step.expect, step.within_ms, ends.get(name)))
    return [
        *_steps_not_done(plan, ends),
        *_ended_early(end),
        *findings,
        *_nothing_asked(findings),
    ]


def _attempts(journal: Journal) -> Mapping[str, list[RequestAttempt]]:
    """Return the attempts by step. A probe names its step; a produce step's records have its name as their process.

    The record of a produce probe is journalled as well, for the data plane; here the probe is judged.
    """
    ends = {event.id: event for event in journal.of("op", "ok", "fail", "info")}
    probes: dict[str, list[RequestAttempt]] = {}
    records: dict[str, list[RequestAttempt]] = {}
    for begun in journal.of("op", "invoke"):
        end = ends.get(begun.id)
        if begun.data.get("f") == "probe":
            probes.setdefault(begun.data["step"], []).append(_probe(begun, end))
        elif begun.data.get("f") == "send":
            records.setdefault(begun.data["process"], []).append(_record(begun, end))
    return {**records, **probes}


def _probe(begun: Event, end: Event | None) -> RequestAttempt:
    if end is None:
        return RequestAttempt(begun.t, begun.node, "unanswered", None, {"reason": "the run ended first"})
    data = end.data
    return RequestAttempt(begun.t, begun.node, data["outcome"], data["error"], data["body"], data.get("changed"))


def _record(begun: Event, end: Event | None) -> RequestAttempt:
    """Return the attempt of one record of a burst. Error codes below zero are the client's own: it got no answer."""
    value = {"value": begun.data["value"]}
    if end is not None and end.phase == "ok":
        return RequestAttempt(begun.t, begun.node, "served", None, value | {"offset": end.data.get("offset")})
    code = None if end is None else end.data.get("code")
    if end is None or code is None or code < 0:
        return RequestAttempt(begun.t, begun.node, "unanswered", None, value)
    return RequestAttempt(begun.t, begun.node, "refused", code, value | {"error": end.data.get("error")})


def _sent_after(
    after: After | None, attempts: list[RequestAttempt], instants: Mapping[str, float]
) -> list[RequestAttempt]:
    sent = [attempt for attempt in attempts if attempt.outcome not in NOT_JUDGED]
    if after is None:
        return sent
    if after.event not in instants:
        return []
    since = instants[after.event] + after.plus_ms / 1000
    return [attempt for attempt in sent if attempt.sent >= since]


def _why_not_asked(attempts: list[RequestAttempt]) -> str:
    """Return why no request of a step was asked: the release does not have it. Empty if one was, or none was tried."""
    tried = [attempt for attempt in attempts if attempt.outcome == NOT_ASKED or attempt.outcome not in NOT_JUDGED]
    if not tried or any(attempt.outcome != NOT_ASKED for attempt in tried):
        return ""
    return str(tried[0].body.get("reason") or "the release does not have the request")


def _not_asked(name: str, step: ProbeStep | Produce, reason: str) -> Iterator[Finding]:
    """Yield the claim of a step as one that was not exercised: neither held nor broken."""
    if step.expect is not None or (isinstance(step, ProbeStep) and step.unchanged):
        yield _not_exercised(step.expect, name, f"`{name}` was not asked, so its claim is not judged", reason)


def _untried(name: str, step: Step, end: EarlyEnd) -> Iterator[Finding]:
    """Yield the claim of a step that was not tried as one that was not exercised."""
    expect = getattr(step, "expect", None)
    if expect is not None or (isinstance(step, ProbeStep) and step.unchanged):
        yield _not_exercised(expect, name, f"`{name}` was not tried, so its claim is not judged", end.reason)


def _ended_early(end: EarlyEnd | None) -> Iterator[Finding]:
    """Yield that the plan did not run to its end. The violation that ended it stands above this."""
    if end is not None and end.untried:
        yield Finding(
            Verdict.INCONCLUSIVE,
            check=SCENARIO.name,
            title="The run was ended early",
            message=f"{len(end.untried)} steps were not tried: {end.reason}.",
            at=end.at,
        )


def _not_exercised(expect: Expect | None, name: str, message: str, reason: str) -> Finding:
    listed = expect and expect.model_copy(update={"difference": None})
    finding = _finding(listed, name, Verdict.PASS, f"{message}: {reason}.")
    return replace(finding, evidence={**finding.evidence, "not_asked": reason})


def _nothing_asked(findings: list[Finding]) -> Iterator[Finding]:
    """Yield an inconclusive finding if the plan has claims and the release could be asked none of them."""
    if findings and all("not_asked" in finding.evidence for finding in findings):
        yield Finding(
            Verdict.INCONCLUSIVE,
            check=EXPECTATIONS.name,
            title="Nothing could be asked",
            message=f"The release has none of the requests that this plan asks; the first: {findings[0].message}",
        )


def _answers(name: str, expect: ExpectOutcome, judged: list[RequestAttempt]) -> Finding:
    if not judged and expect.optional:
        return _not_exercised(expect, name, f"`{name}` is not judged", "no node could be asked")
    if not judged:
        return _finding(expect, name, Verdict.INCONCLUSIVE, f"`{name}` sent no request that could be judged.")
    if (bug := expect.known_bug) and (known := [attempt for attempt in judged if attempt.is_as(bug.outcome)]):
        return _known(name, expect, bug, known, [attempt for attempt in judged if attempt not in known])
    unreadable = sum(attempt.outcome == UNREADABLE for attempt in judged)
    seen = [attempt for attempt in judged if attempt.is_as(expect.outcome)]
    others = [attempt for attempt in judged if not (attempt.is_as(expect.outcome) or attempt.outcome == UNREADABLE)]
    count = f"{len(seen)} of {len(judged)} answers to `{name}` were `{expect.outcome}`"
    match expect.level:
        case Level.MAY:
            shown = expect if seen else expect.model_copy(update={"difference": None})
            return _finding(shown, name, Verdict.PASS, f"{count}, which is allowed.", judged=len(seen))
        case Level.NEVER if seen:
            return _broken(expect, name, f"{count}, which must never be; the first: {_description(seen[0])}.", seen)
        case Level.MUST if others:
            finding = _broken(
                expect, name, f"{count}, and all must be; the first that was not: {_description(others[0])}.", others
            )
            late = {
                "only_late": all(each.is_late for each in others),
                "only_vacant": all(each.is_late or each.is_vacant_for(expect.outcome) for each in others),
            }
            return replace(finding, evidence={**finding.evidence, **late})
        case Level.MUST | Level.NEVER if unreadable:
            message = f"{unreadable} of {len(judged)} answers to `{name}` could not be read."
            return _finding(expect, name, Verdict.INCONCLUSIVE, message)
        case Level.NEVER:
            message = f"None of {len(judged)} answers to `{name}` was `{expect.outcome}`, as required."
            return _finding(expect, name, Verdict.PASS, message, judged=len(judged))
        case _:
            return _finding(expect, name, Verdict.PASS, f"{count}, as all must be.", judged=len(judged))


def _known(
    name: str, expect: ExpectOutcome, bug: KnownBug, known: list[RequestAttempt], others: list[RequestAttempt]
) -> Finding:
    """Judge the other answers of a step of which some show a known bug."""
    rest = _answers(name, expect, others) if others else None
    if rest is not None and rest.verdict is not Verdict.PASS:
        return rest
    message = (
        f"{len(known)} of {len(known) + len(others)} answers to `{name}` were `{bug.outcome}`, which is known of this "
        f"release as {bug.id}; the first: {_description(known[0])}."
    )
    listed = expect.model_copy(update={"difference": bug.id})
    return _finding(listed, name, Verdict.PASS, message)


def _description(attempt: RequestAttempt) -> str:
    error = f" {attempt.named_error}" if attempt.named_error != "" else ""
    differences = f", in which {attempt.differences}" if attempt.differences else ""
    return f"{attempt.outcome}{error} from {attempt.node or 'the cluster'} at {attempt.sent:.2f} s{differences}"


def _unchanged(name: str, step: ProbeStep, judged: list[RequestAttempt]) -> Finding:
    what = ", ".join(step.unchanged)
    changed = [attempt for attempt in judged if attempt.changed]
    if changed:
        details = "; ".join(f"{key} from {old} to {new}" for key, (old, new) in (changed[0].changed or {}).items())
        return _broken(step.expect, name, f"`{name}` must change nothing, and changed {details}.", changed)
    if not judged or any(attempt.changed is None for attempt in judged):
        message = f"It is unknown if `{name}` changed {what}: the decided state could not be read."
        return _finding(step.expect, name, Verdict.INCONCLUSIVE, message)
    return _finding(step.expect, name, Verdict.PASS, f"`{name}` changed nothing of {what}.", judged=len(judged))


def _condition(name: str, expect: Expect, within_ms: int, end: Event | None) -> Finding:
    outcome = None if end is None else end.data.get("outcome")
    within = f"within {within_ms} ms"
    match expect.level, outcome:
        case _, None | "failed":
            return _finding(expect, name, Verdict.INCONCLUSIVE, f"`{name}` was not waited for.")
        case Level.MAY, _:
            message = f"`{name}` {_became(outcome)} {within}, as it may."
            return _finding(expect, name, Verdict.PASS, message, end, judged=int(outcome == "done"))
        case Level.MUST, "done":
            return _finding(expect, name, Verdict.PASS, f"`{name}` became true {within}, as it must.", end, judged=1)
        case Level.NEVER, "missed":
            message = f"`{name}` did not become true {within}, as required."
            return _finding(expect, name, Verdict.PASS, message, end, judged=1)
        case Level.MUST, _:
            message = end.data.get("message", f"it did not become true {within}") if end else ""
            return _broken(expect, name, f"`{name}` must become true: {message}.", [], end)
        case _:
            return _broken(expect, name, f"`{name}` became true {within}, and must never.", [], end)


def _became(outcome: object) -> str:
    return "became true" if outcome == "done" else "did not become true"


def _steps_not_done(plan: Plan, ends: Mapping[str, Event]) -> Iterator[Finding]:
    """Yield a finding for each step that could not be done, except those that failed their own expectation."""
    expected_to = {plan.step_name(place) for place, step in enumerate(plan.steps) if getattr(step, "expect", None)}
    for name, end in ends.items():
        outcome = end.data.get("outcome")
        if name == CONVERGE:
            continue  # `fencepost.harness.checkers.convergence` judges it
        if outcome == "failed" or (outcome == "missed" and name not in expected_to):
            yield Finding(
                Verdict.INCONCLUSIVE,
                check=SCENARIO.name,
                title="The scenario did not run to its end",
                message=f"At `{name}`: {end.data.get('message', outcome)}.",
                at=end.t,
            )


def _broken(
    expect: Expect | None, name: str, message: str, attempts: list[RequestAttempt], end: Event | None = None
) -> Finding:
    if expect is not None and expect.difference is not None:
        message = f"The listed difference {expect.difference} no longer shows: {message}"
    table = Counterexample.of(COLUMNS, [attempt.row for attempt in attempts]) if attempts else None
    at = attempts[0].sent if attempts else end.t if end else None
    return _finding(expect, name, Verdict.VIOLATION, message, end, at=at, counterexample=table)


def _finding(
    expect: Expect | None,
    name: str,
    verdict: Verdict,
    message: str,
    end: Event | None = None,
    *,
    at: float | None = None,
    counterexample: Counterexample | None = None,
    judged: int = 0,
) -> Finding:
    return Finding(
        verdict=verdict,
        check=EXPECTATIONS.name,
        title=name,
        message=message,
        requirement=expect.requirement if expect else None,
        level=expect.level.value if expect else None,
        difference=expect.difference if expect else None,
        at=at if at is not None or end is None else end.t,
        evidence={"step": name, **({"judged": judged} if verdict is Verdict.PASS else {})},
        counterexample=counterexample,
        also=expect.also if expect else (),
    )
