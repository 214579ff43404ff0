"""Coverage: did everything happen that the plan requires for its verdict to mean anything?"""

import re
from collections.abc import Mapping
from math import inf
from typing import Any

from fencepost.harness.checkers.check import RunCheck
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.history import History, Send, SendOutcome
from fencepost.harness.checkers.instants import read_instants
from fencepost.harness.plan.model import (
    Acknowledged,
    Attempted,
    Committed,
    Coverage,
    FaultMet,
    FaultProven,
    OutcomeSeen,
    Plan,
)
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict

COVERAGE = RunCheck(
    "coverage", "The run did what its plan needs, such as records acknowledged after a fault. Else it shows nothing."
)


@checker(COVERAGE, rank=95, coverage=True)
def check_coverage(plan: Plan, journal: Journal, client_history: History) -> list[Finding]:
    """Return one finding for each coverage statement of the plan: met or not, with the count."""
    instants = read_instants(journal)
    return [
        _not_asked(statement)
        if isinstance(statement, OutcomeSeen) and _was_not_asked(statement.step, journal)
        else _finding(statement, *_measure(statement, journal, client_history, instants))
        for statement in plan.coverage
    ]


def _was_not_asked(step: str, journal: Journal) -> bool:
    """Return whether the release had no request of this probe, so that no outcome could be seen."""
    outcomes = {
        event.data.get("outcome")
        for event in journal.of("op", "ok", "fail", "info")
        if event.data.get("f") == "probe" and event.data.get("step") == step
    }
    return outcomes == {"not-asked"}


def _not_asked(statement: OutcomeSeen) -> Finding:
    return Finding(
        verdict=Verdict.PASS,
        check=COVERAGE.name,
        title=f"The probe {statement.step} got the outcome {statement.outcome}",
        message=f"Not asked: the release does not have the request of {statement.step}.",
        evidence={"judged": 0, "that": statement.that},
    )


def _measure(
    statement: Coverage, journal: Journal, history: History, instants: Mapping[str, float]
) -> tuple[str, int, int]:
    """Return the requirement as a text, the number of times that it happened, and the number that is needed."""
    match statement:
        case FaultProven(fault=fault):
            return f"the fault {fault} was proven to work", int(f"{fault}.proven" in instants), 1
        case FaultMet(fault=fault):
            healed = (event for event in journal.of("fault", "healed") if event.id == fault)
            hits = sum(sum(event.data.get("measured", {}).get("hits", {}).values()) for event in healed)
            return f"operations of the node met the fault {fault}", hits, 1
        case Attempted():
            wanted = f"records were sent{_by(statement.by)}{_between(statement)}"
            return wanted, len(_between_instants(statement, history.sends, instants)), statement.at_least
        case Acknowledged(acks=acks):
            wanted = f"records were acknowledged{'' if acks is None else f' at acks={acks}'}"
            wanted += f"{_by(statement.by)}{_between(statement)}"
            count = sum(
                send.outcome is SendOutcome.OK and acks in (None, send.acks, _number(send.acks))
                for send in _between_instants(statement, history.sends, instants)
            )
            return wanted, count, statement.at_least
        case Committed(what=what, by=by):
            commits = history.transactions.acknowledged if what == "transactions" else history.groups.acknowledged
            after, before = _span(statement, instants)
            count = sum(after <= invoked < before and by in (None, process) for process, invoked in commits)
            wanted = "transactions were committed" if what == "transactions" else "group offsets were committed"
            return f"{wanted}{_by(by)}{_between(statement)}", count, statement.at_least
        case OutcomeSeen(step=step, outcome=outcome):
            seen = sum(
                event.data.get("f") == "probe" and event.data.get("step") == step and matches(outcome, event.data)
                for event in journal.of("op", "ok", "fail", "info")
            )
            return f"the probe {step} got the outcome {outcome}", seen, 1
        case _:
            step = statement.step
            done = sum(event.id == step and event.data.get("outcome") == "done" for event in journal.of("step", "end"))
            return f"the step {step} was done", done, 1


def matches(outcome: str, data: Mapping[str, Any]) -> bool:
    """Return whether a probe's answer is the plan's `outcome`: `served`, `refused`, `unanswered` or `error:[74,75]`."""
    if outcome.startswith("error:"):
        return data.get("error") in [int(code) for code in re.findall(r"-?\d+", outcome)]
    return bool(data.get("outcome") == outcome)


def _between_instants(
    statement: Attempted | Acknowledged, sends: tuple[Send, ...], instants: Mapping[str, float]
) -> list[Send]:
    """Return the sends of the producer between two instants; none if one of the instants never came."""
    after, before = _span(statement, instants)
    return [send for send in sends if after <= send.invoked < before and statement.by in (None, send.process)]


def _span(statement: Attempted | Acknowledged | Committed, instants: Mapping[str, float]) -> tuple[float, float]:
    """Return the begin and the end of the time that counts; it is empty if one of its instants never came."""
    after = instants.get(statement.after, inf) if statement.after else -inf
    before = instants.get(statement.before, -inf) if statement.before else inf
    return after, before


def _number(acks: str) -> int | None:
    return int(acks) if acks.isdigit() else None


def _by(name: str | None) -> str:
    return f" by {name}" if name else ""


def _between(statement: Attempted | Acknowledged | Committed) -> str:
    after = f" after {statement.after}" if statement.after else ""
    return after + (f" before {statement.before}" if statement.before else "")


def _finding(statement: Coverage, wanted: str, count: int, needed: int) -> Finding:
    met = count >= needed
    return Finding(
        verdict=Verdict.PASS if met else Verdict.INCONCLUSIVE,
        check=COVERAGE.name,
        title=wanted[0].upper() + wanted[1:],
        message=f"{'Covered' if met else 'Not covered'}: {wanted}: {count}, needed {needed}.",
        evidence={"judged": count, "needed": needed, "that": statement.that},
    )
