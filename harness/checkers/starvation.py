"""Deadlines that were missed on a machine that had no processor for the nodes prove nothing about them.

Withdrawn is only a claim that something must come true, or be answered, *in time*, and only if some node was kept
waiting for a processor for a third of the time that it had, or longer. The same goes for the claim that a node keeps
what it has to renew in time: its epoch, its leadership, its place in an ISR. Whatever was lost, served, taken or
refused against the rules stays as it is: no want of time excuses it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.plan.conditions import AwaitStep, BrokerEpochAbove, IsrIs, LeaderIs
from harness.plan.model import Plan
from harness.plan.probes import ProbeStep
from harness.plan.steps import Produce
from results.records.journal import Journal
from results.records.verdict import Finding, Verdict

SHARE = 1 / 3
"""Of the deadline."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A node waited so many seconds for a processor between two times."""

    begin: float
    end: float
    seconds: float

    def within(self, begin: float, end: float) -> float:
        """Its part that falls between these, spread evenly."""
        shared = min(self.end, end) - max(self.begin, begin)
        return self.seconds * shared / (self.end - self.begin) if shared > 0 else 0.0


def excuse_starved(plan: Plan, journal: Journal, findings: Iterable[Finding]) -> list[Finding]:
    waits = read_waits(journal)
    begun = {event.id: event.t for event in journal.of("step", "begin")}
    ended = {event.id: event.t for event in journal.of("step", "end")}
    steps = {plan.step_name(place): step for place, step in enumerate(plan.steps)}
    judged = []
    for finding in findings:
        name = str(finding.evidence.get("step", ""))
        if waits and finding.verdict is Verdict.VIOLATION and name in begun and name in ended:
            window = _window(plan, steps.get(name), finding, begun[name], ended[name])
            if window is not None and (reason := _starved(waits, *window)):
                finding = finding.withdrawn(reason)
        judged.append(finding)
    return judged


def read_waits(journal: Journal) -> Mapping[str, Sequence[Wait]]:
    """By node."""
    waits: dict[str, list[Wait]] = defaultdict(list)
    for event in journal.of("state"):
        if event.node and event.data.get("what") == "processor":
            waits[event.node].append(Wait(event.t - event.data["seconds"], event.t, event.data["waited"]))
    return waits


def _window(
    plan: Plan, step: object, finding: Finding, begun: float, ended: float
) -> tuple[float, float, float] | None:
    """From when to when it had time, and how long that was; None if time is not what the claim is about."""
    if finding.level == "never" and _is_lost(step):
        shortest = min(plan.timing.lease_ms, plan.timing.session_ms, plan.timing.lag_ms) / 1000
        return ended - 2 * shortest, ended, shortest
    if finding.level != "must" or ended <= begun:
        return None
    if isinstance(step, AwaitStep):
        return begun, ended, step.within_ms / 1000
    if isinstance(step, ProbeStep | Produce) and finding.evidence.get("only_late"):
        first = begun if finding.at is None else finding.at
        return (first, ended, ended - first) if ended > first else None
    return None


def _is_lost(step: object) -> bool:
    """Whether the condition is that somebody no longer has what he has to renew. That a certain node leads, or is in
    sync, is another matter: nothing excuses that if it may never be."""
    match step:
        case BrokerEpochAbove():
            return True
        case LeaderIs():
            return step.is_ is None
        case IsrIs():
            return step.lacks is not None and step.has is None and step.is_ is None
        case _:
            return False


def _starved(waits: Mapping[str, Sequence[Wait]], begin: float, end: float, deadline: float) -> str:
    """Why nothing may be concluded; empty if something may."""
    waited = {node: sum(wait.within(begin, end) for wait in each) for node, each in waits.items()}
    node = max(waited, key=lambda name: waited[name])
    if waited[node] < SHARE * deadline:
        return ""
    return (
        f"{node} waited {waited[node]:.1f} s for a processor of the {deadline:.1f} s that there were "
        f"(a third is too much to judge by)."
    )
