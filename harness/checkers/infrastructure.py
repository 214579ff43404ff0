"""The failures around a run that are not the target's: of the journal, of the harness, of faults, of clients."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from fencepost.harness.checkers.check import RunCheck
from fencepost.harness.checkers.early_end import early_end
from fencepost.harness.checkers.expectations import SCENARIO
from fencepost.harness.checkers.refused_retry import CHECK as REFUSED_RETRY
from fencepost.harness.plan.model import Plan
from fencepost.results.records.events import CLIENT_ENDED, CONVERGE, HANGS, INFRASTRUCTURE, OVERRUN
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict

JOURNAL = RunCheck("journal", "No line of the journal is damaged. Else the run is infrastructure.")
UNFINISHED = RunCheck("unfinished", "The run reached its end. Else it is infrastructure.")
HARNESS = RunCheck("harness", "The harness and its machinery did not fail. Else the run is infrastructure.")
OVERRUNS = RunCheck(
    "overrun", "The run was over in its time. Else it is infrastructure, and what showed before stands."
)
HANGING = RunCheck(
    "hangs", "Each call into a client library returned. Else the run is infrastructure, and what showed before stands."
)
FAULTS = RunCheck("faults", "Every fault was proven to take effect, and proven healed. Else the run is inconclusive.")
CLIENTS = RunCheck("clients", "No client of the workload ended by an error that the plan does not expect.")

_TITLES: Final[Mapping[RunCheck, str]] = {
    JOURNAL: "The journal is damaged",
    UNFINISHED: "The run was cut short",
    HARNESS: "The harness failed",
    OVERRUNS: "The run was not over in time",
    HANGING: "A call into a client library did not return",
}
_PROOFS: Final = {
    "its intent": frozenset({"intent"}),
    "the proof of its effect": frozenset({"proven", "unproven"}),
    "the proof of its healing": frozenset({"healed", "unhealed"}),
}


def infrastructure_failures(journal: Journal) -> Iterator[Finding]:
    """Yield a finding for each failure of the infrastructure: the journal, the harness, the machinery around it."""
    if journal.damaged:
        lines = "; ".join(map(str, journal.damaged[:5]))
        yield _failure(JOURNAL, f"{len(journal.damaged)} lines of the journal are damaged: {lines}.")
    for event in journal.of("note"):
        if event.data.get("what") == INFRASTRUCTURE:
            yield replace(_failure(HARNESS, event.data["message"]), at=event.t)
        if event.data.get("what") == OVERRUN:
            yield replace(_failure(OVERRUNS, event.data["message"]), at=event.t)
        if event.data.get("what") == HANGS:
            yield replace(_failure(HANGING, event.data["message"]), at=event.t - event.data["seconds"])
    if not journal.finished:
        last = f"event {journal.events[-1].seq} at {journal.duration:.1f} s" if journal.events else "none"
        yield _failure(UNFINISHED, f"The run did not reach its end; the last recorded event is {last}.")


def _failure(check: RunCheck, message: str) -> Finding:
    return Finding(Verdict.INFRASTRUCTURE, check.name, _TITLES[check], message)


def unproven_faults(journal: Journal) -> Iterator[Finding]:
    """Yield a finding for each fault without a proof of its effect, or of its healing."""
    for event in journal.of("fault", "unproven", "unhealed"):
        effect = "take effect" if event.phase == "unproven" else "heal"
        why = event.data.get("missed") or event.data.get("how", "no measurement")
        yield Finding(
            verdict=Verdict.INCONCLUSIVE,
            check=FAULTS.name,
            title="A fault was not proven",
            message=f"The fault {event.id} was not proven to {effect}: {why}.",
            at=event.t,
        )


def ended_clients(journal: Journal, judged: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a finding for each client of the workload that a fatal error ended, and whose end no finding explains."""
    explained = {each.evidence.get("client") for each in judged if each.check == REFUSED_RETRY.name}
    for event in journal.of("note"):
        if event.data.get("what") == CLIENT_ENDED and event.data["client"] not in explained:
            yield Finding(
                verdict=Verdict.INCONCLUSIVE,
                check=CLIENTS.name,
                title="A fatal error ended a client",
                message=(
                    f"The client {event.data['client']} was ended at {event.t:.2f} s by {event.data['error']}, a fatal "
                    f"error that the target's answers can cause: {event.data['message']}."
                ),
                at=event.t,
            )


def missing_records(plan: Plan, journal: Journal) -> Iterator[Finding]:
    """Yield a finding for each step and each fault of a whole run whose record is not whole. Linear in the journal.

    The engine writes the end of each step and the proofs of each fault; a journal without them shows less than its run
    did, and no pass rests on it. A run that did not come to its end, or that a step ended early, is judged by what it
    has.
    """
    ends = {event.id: event.data.get("outcome") for event in journal.of("step", "end")}
    if not any(event.id == CONVERGE for event in journal.of("step", "begin")):
        return
    end = early_end(journal)
    untried = () if end is None else end.untried
    names = {plan.step_name(place): step for place, step in enumerate(plan.steps)}
    steps = {name: step for name, step in names.items() if name not in untried}
    if not {"failed", "missed"} & {outcome for name, outcome in ends.items() if name in steps}:
        for name in (each for each in steps if each not in ends):
            yield _not_whole(SCENARIO, f"The journal does not have the end of the step {name}.")
    phases: dict[str, set[str]] = defaultdict(set)
    for event in journal.of("fault"):
        phases[event.id].add(event.phase)
    injected = [name for name, step in steps.items() if step.do == "inject" and ends.get(name) == "done"]
    for name in dict.fromkeys((*injected, *phases)):
        for what, either in _PROOFS.items():
            if not either & phases[name]:
                yield _not_whole(FAULTS, f"The journal does not have {what} of the fault {name}.")


def _not_whole(check: RunCheck, message: str) -> Finding:
    return Finding(Verdict.INCONCLUSIVE, check=check.name, title="The journal is not whole", message=message)
