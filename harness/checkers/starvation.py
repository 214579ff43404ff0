"""Excuse deadlines that were missed on a machine that had no processor for the nodes: they prove nothing.

A violation is withdrawn only if the expectation was that a condition becomes true, or a request is answered, *in time*,
and only if a node waited for a processor for at least a third of that time. The same holds for the expectation that a
node keeps a state that it must renew in time: its epoch, its leadership, its place in an ISR; and for a request that
was refused because no node had such a state, if one waited for a third of the two shortest terms before. Records that
were lost, and requests that were served, accepted or refused against the rules, are not excused by a lack of time.

A node that ran for half of a time, or for longer, did not lack the processor in it: it wants one all the time, so it
waits whenever another wants one as well, and a node that spins would excuse itself. Its first seconds of use are its
start, which is work.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from fencepost.harness.plan.conditions.broker_epoch_above import BrokerEpochAbove
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.conditions.isr_is import IsrIs
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps.produce import Produce
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict

SHARE = 1 / 3
"""The share of the deadline for which a node must have waited."""
RAN = 1 / 2
"""The share of the time of a look from which on a node that ran itself lacked nothing."""
START = 15.0
"""Seconds of processor time that a process may take to start: a JVM runs on all cores meanwhile."""


@dataclass(frozen=True, slots=True)
class ProcessorWait:
    """A node waited `seconds` for a processor between two times of the journal."""

    begin: float
    end: float
    seconds: float

    def within(self, begin: float, end: float) -> float:
        """Return the part of the wait between these times, if it was spread evenly."""
        shared = min(self.end, end) - max(self.begin, begin)
        return self.seconds * shared / (self.end - self.begin) if shared > 0 else 0.0


class WaitedTime:
    """The time for which a node waited between any two times. Its waits follow each other, as they were sampled."""

    def __init__(self, waits: Sequence[ProcessorWait]) -> None:
        self._waits = waits
        self._ends = [wait.end for wait in waits]
        self._sums = [0.0, *accumulate(wait.seconds for wait in waits)]

    def within(self, begin: float, end: float) -> float:
        """Return the seconds of waiting between two times, logarithmic in the number of waits."""
        first, last = bisect_right(self._ends, begin), bisect_left(self._ends, end)
        whole = self._sums[last] - self._sums[min(first + 1, last)]
        return whole + sum(self._waits[at].within(begin, end) for at in {first, last} if at < len(self._waits))

    def between(self, since: float, until: float) -> Sequence[ProcessorWait]:
        """Return the waits of which a part lies between two times."""
        found = self._waits[bisect_left(self._ends, since) : bisect_right(self._ends, until) + 1]
        return found[:-1] if found and found[-1].begin > until else found


def excuse_starved(plan: Plan, journal: Journal, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, with violations withdrawn whose deadline passed while a node waited for a processor."""
    waits = read_waits(journal)
    begun = {event.id: event.t for event in journal.of("step", "begin")}
    ended = {event.id: event.t for event in journal.of("step", "end")}
    steps = {plan.step_name(place): step for place, step in enumerate(plan.steps)}
    judged = []
    for finding in findings:
        name = str(finding.evidence.get("step", ""))
        if waits and finding.verdict is Verdict.VIOLATION and name in begun and name in ended:
            window = _window(plan, steps.get(name), finding, begun[name], ended[name])
            if window is not None and (reason := starved(waits, *window)):
                finding = finding.withdrawn(reason)
        judged.append(finding)
    return judged


def read_waits(journal: Journal) -> Mapping[str, Sequence[ProcessorWait]]:
    """Return the waits that the journal has, by node; of no length where the node's own use explains them."""
    waits: dict[str, list[ProcessorWait]] = defaultdict(list)
    for event in journal.of("state"):
        if event.node and event.data.get("what") == "processor":
            seconds = event.data["seconds"]
            waited = 0.0 if _ran_itself(event.data) else event.data["waited"]
            waits[event.node].append(ProcessorWait(event.t - seconds, event.t, waited))
    return waits


def _ran_itself(look: Mapping[str, Any]) -> bool:
    """Return whether a node that had started ran for most of a look. Earlier journals do not say what a node used."""
    return bool(look.get("used", 0.0) >= RAN * look["seconds"] and look.get("used_before", 0.0) >= START)


def _window(
    plan: Plan, step: object, finding: Finding, begun: float, ended: float
) -> tuple[float, float, float] | None:
    """Return the begin, the end and the length of the time for the step, None if its expectation is not about time."""
    shortest = min(plan.timing.lease_ms, plan.timing.session_ms, plan.timing.lag_ms) / 1000
    if finding.level == "never" and _is_lost(step):
        return ended - 2 * shortest, ended, shortest
    if finding.level != "must" or ended <= begun:
        return None
    if isinstance(step, AwaitStep):
        return begun, ended, step.within_ms / 1000
    if isinstance(step, ProbeStep | Produce) and finding.evidence.get("only_late"):
        first = begun if finding.at is None else finding.at
        return (first, ended, ended - first) if ended > first else None
    if isinstance(step, ProbeStep | Produce) and finding.evidence.get("only_vacant"):
        return begun - 2 * shortest, ended, ended - begun + 2 * shortest
    return None


def _is_lost(step: object) -> bool:
    """Return whether the condition is that a node lost a state that it has to renew.

    The condition that a certain node leads, or is in sync, is not: nothing excuses that if it may never be.
    """
    match step:
        case BrokerEpochAbove():
            return True
        case LeaderIs():
            return step.is_ is None
        case IsrIs():
            return step.lacks is not None and step.has is None and step.is_ is None
        case _:
            return False


def starved(waits: Mapping[str, Sequence[ProcessorWait]], begin: float, end: float, deadline: float) -> str:
    """Return why the deadline proves nothing; empty if it does."""
    waited = {node: sum(wait.within(begin, end) for wait in each) for node, each in waits.items()}
    node = max(waited, key=lambda name: waited[name], default="")
    if not waited or waited[node] < SHARE * deadline:
        return ""
    return (
        f"{node} waited for a processor for {waited[node]:.1f} s of the {deadline:.1f} s that it had "
        f"(from a third on, a deadline proves nothing)."
    )
