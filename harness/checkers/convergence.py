"""The end of every run: all faults are healed, and the cluster has to become whole within the bound of the harness.

A plan may claim it earlier, and of its own bound. One that did not claim it, or did not come so far, is judged here: a
cluster that is not whole in the end broke LIVE-01. It is not held against the target

- if a fault was not proven or not healed, the infrastructure failed, or a client was ended (the judge withdraws it);
- if a node waited for a processor for a third of the bound (decision 0012);
- if a node was ended and not started again, or a second process with an id was started;
- if a fault took away what a node had promised to remember: it may have been the last copy (LIVE-08).
"""

from __future__ import annotations

from typing import Final

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.exits import FORGETS_NOTHING
from fencepost.harness.checkers.starvation import read_waits, starved
from fencepost.harness.plan.model import Plan
from fencepost.results.records.events import CONVERGE
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

WHOLE: Final = Check("convergence", "The cluster did not become whole again", "LIVE-01", Basis.FAULT)


@checker(WHOLE, rank=91, rests_on=["step:end"])
def check_convergence(plan: Plan, journal: Journal) -> list[Finding]:
    """Return a finding if the cluster was not whole at the end of the run; none if it was, or the run did not end."""
    begun = next((event.t for event in journal.of("step", "begin") if event.id == CONVERGE), None)
    end = next((event for event in journal.of("step", "end") if event.id == CONVERGE), None)
    if begun is None or end is None or end.data.get("outcome") != "missed":
        return []
    message = str(end.data.get("message", "the cluster did not converge"))
    row = (round(begun, 3), round(end.t, 3), message)
    at_the_end = f"Once everything was healed, {message}."
    finding = WHOLE.broken(1, at_the_end, ("healed at s", "given up at s", "what was seen"), [row], at=end.t)
    reason = _excuse(plan, journal, begun, end.t)
    return [finding.withdrawn(f"{reason}.") if reason else finding]


def _excuse(plan: Plan, journal: Journal, begun: float, end: float) -> str:
    if reason := starved(read_waits(journal), begun, end, end - begun):
        return reason.rstrip(".")
    twins = {node.name for node in plan.topology.nodes if node.duplicate_of is not None}
    last = {event.id: event.phase for event in journal.of("node") if event.t <= end and event.phase != "silent"}
    if twin := next((name for name in twins if name in last), None):
        return f"{twin}, a second process with the same id, was started"
    ended = ("killed", "stopped", "stopping", "exited", "paused")
    if gone := next((name for name, phase in last.items() if phase in ended), None):
        return f"{gone} was not running"
    for intent in journal.of("fault", "intent"):
        if intent.data.get("fault") not in FORGETS_NOTHING:
            return f"the fault {intent.id} may have taken the last copy away"
    return ""
