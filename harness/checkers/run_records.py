"""Is in the journal of a whole run what every whole run has: the end of each step, the proofs of each fault?

The engine writes them; a journal without them shows less than its run did, and no pass rests on it. A run that did not
come to its end, or that a step ended early, is judged by what it has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from fencepost.harness.checkers.check import RunCheck
from fencepost.harness.checkers.expectations import SCENARIO
from fencepost.harness.checkers.infrastructure import FAULTS
from fencepost.harness.plan.model import Plan
from fencepost.results.records.events import CONVERGE
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict

_PROOFS: Final = {
    "its intent": frozenset({"intent"}),
    "the proof of its effect": frozenset({"proven", "unproven"}),
    "the proof of its healing": frozenset({"healed", "unhealed"}),
}


def missing_records(plan: Plan, journal: Journal) -> Iterator[Finding]:
    """Yield a finding for each step and each fault of a whole run whose record is not whole. Linear in the journal."""
    ends = {event.id: event.data.get("outcome") for event in journal.of("step", "end")}
    if not any(event.id == CONVERGE for event in journal.of("step", "begin")):
        return
    steps = {plan.step_name(place): step for place, step in enumerate(plan.steps)}
    if not {"failed", "missed"} & {outcome for name, outcome in ends.items() if name in steps}:
        for name in (each for each in steps if each not in ends):
            yield _finding(SCENARIO, f"The journal does not have the end of the step {name}.")
    phases: dict[str, set[str]] = defaultdict(set)
    for event in journal.of("fault"):
        phases[event.id].add(event.phase)
    injected = [name for name, step in steps.items() if step.do == "inject" and ends.get(name) == "done"]
    for name in dict.fromkeys((*injected, *phases)):
        for what, either in _PROOFS.items():
            if not either & phases[name]:
                yield _finding(FAULTS, f"The journal does not have {what} of the fault {name}.")


def _finding(check: RunCheck, message: str) -> Finding:
    return Finding(Verdict.INCONCLUSIVE, check=check.name, title="The journal is not whole", message=message)
