"""Coverage: whether the journal holds what the plan says must have happened for its verdict to mean anything."""

import re
from collections.abc import Mapping
from math import inf
from typing import Any

from harness.checkers.history import Outcome, Send, read_history
from harness.checkers.instants import read_instants
from harness.plan.model import Acknowledged, Attempted, Coverage, FaultMet, FaultProven, OutcomeSeen, Plan, StepDone
from results.records.journal import Journal
from results.records.verdict import Finding, Verdict


def check_coverage(plan: Plan, journal: Journal) -> list[Finding]:
    """One finding for each statement: met or not, with what was counted."""
    instants = read_instants(journal)
    sends = read_history(journal).sends
    return [_finding(statement, *_measure(statement, journal, sends, instants)) for statement in plan.coverage]


def _measure(
    statement: Coverage, journal: Journal, sends: tuple[Send, ...], instants: Mapping[str, float]
) -> tuple[str, int, int]:
    """What is asked for, how much of it there was, and how much had to be."""
    match statement:
        case FaultProven(fault=fault):
            return f"the fault {fault} was proven to work", int(f"{fault}.proven" in instants), 1
        case FaultMet(fault=fault):
            healed = (event for event in journal.of("fault", "healed") if event.id == fault)
            hits = sum(sum(event.data.get("measured", {}).get("hits", {}).values()) for event in healed)
            return f"operations of the node met the fault {fault}", hits, 1
        case Attempted():
            asked = f"records were sent{_by(statement.by)}{_between(statement)}"
            return asked, len(_between_instants(statement, sends, instants)), statement.at_least
        case Acknowledged(acks=acks):
            asked = f"records were acknowledged{'' if acks is None else f' at acks={acks}'}"
            asked += f"{_by(statement.by)}{_between(statement)}"
            count = sum(
                send.outcome is Outcome.OK and acks in (None, send.acks, _number(send.acks))
                for send in _between_instants(statement, sends, instants)
            )
            return asked, count, statement.at_least
        case OutcomeSeen(step=step, outcome=outcome):
            seen = sum(
                event.data.get("f") == "probe" and event.data.get("step") == step and matches(outcome, event.data)
                for event in journal.of("op", "ok", "fail", "info")
            )
            return f"the probe {step} got the outcome {outcome}", seen, 1
        case StepDone(step=step):
            done = sum(event.id == step and event.data.get("outcome") == "done" for event in journal.of("step", "end"))
            return f"the step {step} was done", done, 1


def matches(outcome: str, data: Mapping[str, Any]) -> bool:
    """Whether a probe's answer is what the plan calls `served`, `refused`, `unanswered` or `error:[74,75]`."""
    if outcome.startswith("error:"):
        return data.get("error") in [int(code) for code in re.findall(r"-?\d+", outcome)]
    return bool(data.get("outcome") == outcome)


def _between_instants(
    statement: Attempted | Acknowledged, sends: tuple[Send, ...], instants: Mapping[str, float]
) -> list[Send]:
    """Sends of the right producer, invoked after one instant and before the other. An instant that never came: none."""
    after = instants.get(statement.after, inf) if statement.after else -inf
    before = instants.get(statement.before, -inf) if statement.before else inf
    return [send for send in sends if after <= send.invoked < before and statement.by in (None, send.process)]


def _number(acks: str) -> int | None:
    return int(acks) if acks.isdigit() else None


def _by(name: str | None) -> str:
    return f" by {name}" if name else ""


def _between(statement: Attempted | Acknowledged) -> str:
    after = f" after {statement.after}" if statement.after else ""
    return after + (f" before {statement.before}" if statement.before else "")


def _finding(statement: Coverage, asked: str, count: int, needed: int) -> Finding:
    met = count >= needed
    return Finding(
        verdict=Verdict.PASS if met else Verdict.INCONCLUSIVE,
        check="coverage",
        title=asked[0].upper() + asked[1:],
        sentence=f"{'Covered' if met else 'Not covered'}: {asked}: {count}, needed {needed}.",
        evidence={"judged": count, "needed": needed, "that": statement.that},
    )
