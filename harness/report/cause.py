"""The cause of a violation in one line: the faults in effect, the changes of state, the moment at which it showed.

The line has only what the journal shows, in the order of time: "while" a fault was in effect, "then" a change. That
one led to the other is for the reader to decide; a checker's own message may say more, and stands beside it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from fencepost.harness.checkers.control import DECIDED, PartitionObservation, TopicPartition
from fencepost.harness.checkers.history import History
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.prose import capitalised, fault_in_words
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding

MOST_FAULTS = 3
MOST_CHANGES = 3
"""Changes of state in the line: the last ones before the moment."""

_BROKER = {
    "fenced": "was fenced",
    "inactive": "was made inactive",
    "gone": "lost its registration",
    "active": "became active",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """The course of events in words, and the moment to which it leads: `at` in seconds, and its step.

    It is that of the first finding on the page. `course` ends in a comma or an "and", for the moment follows it; it is
    empty if the journal shows no fault before the moment.
    """

    course: str
    at: float
    step: str | None


@dataclass(frozen=True, slots=True)
class ActiveFault:
    """A fault that was proven, and the time from its proof until its healing began. `role` is a remark, or empty."""

    name: str
    words: str
    role: str
    begun: float
    proven: float
    over: float


def find_cause(plan: Plan, journal: Journal, history: History, numbered: Sequence[Finding]) -> Cause | None:
    """Return the cause of the first finding, which the headline is about; None if it has no time."""
    if not numbered or numbered[0].at is None:
        return None
    finding, at = numbered[0], numbered[0].at
    faults = [fault for fault in proven_faults(journal, history, plan) if fault.proven <= at]
    active = [fault for fault in faults if at < fault.over]
    since = min((fault.begun for fault in active or _last_ended(faults)), default=None)
    ended = [fault for fault in faults if active and since is not None and since < fault.over <= at]
    changes = [] if since is None else _steady(sorted(_changes(plan, journal, history, finding, since, at)))
    clauses = list(filter(None, (_faults_clause(active, faults), *_until(ended), *_joined(changes[-MOST_CHANGES:]))))
    joint = "," if active and not changes and not ended else ", and"
    return Cause(", ".join(clauses) + (joint if clauses else ""), at, step_at(journal, finding))


def _joined(changes: Sequence[tuple[float, str]]) -> list[str]:
    """Return the changes as clauses; of those at one instant only the last has the time."""
    return [
        words if n < len(changes) and f"{changes[n][0]:.2f}" == f"{t:.2f}" else f"{words} at {t:.2f} s"
        for n, (t, words) in enumerate(changes, start=1)
    ]


def step_at(journal: Journal, finding: Finding) -> str | None:
    """Return the step that a finding belongs to, or else the step that was under way at its time."""
    if (step := finding.evidence.get("step")) is not None:
        return str(step)
    if finding.at is None:
        return None
    ends = {event.id: event.t for event in journal.of("step", "end")}
    under_way = [e.id for e in journal.of("step", "begin") if e.t <= finding.at <= ends.get(e.id, inf)]
    return under_way[-1] if under_way else None


def proven_faults(journal: Journal, history: History, plan: Plan) -> list[ActiveFault]:
    """Return the faults that were proven, in the order of their proofs."""
    at: dict[str, dict[str, float]] = {}
    intents: dict[str, Mapping[str, Any]] = {}
    for event in journal.of("fault"):
        at.setdefault(event.id, {}).setdefault(event.phase, event.t)
        if event.phase == "intent":
            intents[event.id] = event.data
    proven = []
    for name, phases in at.items():
        if "proven" in phases:
            parameters = intents.get(name, {}).get("params") or {}
            begun = phases.get("intent", phases["proven"])
            words = fault_in_words(str(intents.get(name, {}).get("fault", name)), parameters, past=True)
            role = _role(plan, history, parameters, begun)
            proven.append(ActiveFault(name, words, role, begun, phases["proven"], phases.get("recovering", inf)))
    return sorted(proven, key=lambda fault: fault.proven)


def _role(plan: Plan, history: History, parameters: Mapping[str, Any], t: float) -> str:
    """Return the partitions that the one node that a fault hits led when the fault began, as a remark."""
    hit = parameters.get("node") or parameters.get("nodes") or parameters.get("from")
    nodes = [hit] if isinstance(hit, str) else list(hit or ())
    ids = {node.name: node.id for node in plan.topology.nodes if node.duplicate_of is None}
    if len(nodes) != 1 or nodes[0] not in ids:
        return ""
    led = [
        f"{topic}-{number}"
        for topic, number in _partitions(plan)
        if (view := history.views.at((topic, number), t)) is not None and view.leader == ids[nodes[0]]
    ]
    if not led:
        return ""
    more = f" and {len(led) - 2} more" if len(led) > 2 else ""
    return f"{nodes[0]} led {', '.join(led[:2])}{more}; "


def _faults_clause(active: Sequence[ActiveFault], earlier: Sequence[ActiveFault]) -> str:
    if len(active) > MOST_FAULTS:
        return f"While {len(active)} faults were in effect ({', '.join(fault.name for fault in active)})"
    if active:
        parts = [f"{fault.words} ({fault.role}proven at {fault.proven:.2f} s)" for fault in active]
        return "While " + " and ".join(parts)
    parts = []
    for fault in _last_ended(earlier)[-MOST_FAULTS:]:
        role = f" ({fault.role.removesuffix('; ')})" if fault.role else ""
        parts.append(f"{fault.words} from {fault.proven:.2f} s to {fault.over:.2f} s{role}")
    return capitalised(" and ".join(parts))


def _last_ended(faults: Sequence[ActiveFault]) -> list[ActiveFault]:
    """Return the fault that ended last, and those that ended after it had begun."""
    last = max(faults, key=lambda fault: fault.over, default=None)
    return [] if last is None else [fault for fault in faults if fault.over >= last.begun]


def _steady(changes: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the changes, and of ISRs that change again and again only the last state of each."""
    shown: dict[str, tuple[float, str]] = {}
    for t, words in changes:
        subject = re.sub(r" (shrank|grew) to .*", "", words) if words.startswith("the ISR of ") else words
        shown.pop(subject, None)
        shown[subject] = (t, words)
    return list(shown.values())


def _until(ended: Sequence[ActiveFault]) -> Iterator[str]:
    """Yield the faults that ended after the ones in effect began: what they left may still have worked."""
    for fault in ended[-MOST_FAULTS:]:
        yield f"and from {fault.proven:.2f} s to {fault.over:.2f} s {fault.words}"


def _changes(
    plan: Plan, journal: Journal, history: History, finding: Finding, since: float, until: float
) -> Iterator[tuple[float, str]]:
    """Yield the changes of state of the partitions and nodes that the finding names; of all if it names none."""
    partitions, nodes = _named(plan, finding)
    for partition in _partitions(plan):
        if not partitions or partition in partitions:
            yield from _leadership(plan, history.views.of(partition), since, until)
    for event in journal.of("state"):
        if since <= event.t <= until and event.data.get("what") == "broker" and not event.node:
            name = str(event.data.get("node") or event.data["id"])
            if event.data["state"] in _BROKER and (not nodes or name in nodes):
                yield event.t, f"{name} {_BROKER[event.data['state']]}"
    for event in journal.of("node", "exited"):
        if since <= event.t <= until:
            yield event.t, f"{event.id} ended by itself"
    yield from _controllers(plan, journal, since, until)


def _leadership(
    plan: Plan, views: Iterable[PartitionObservation], since: float, until: float
) -> Iterator[tuple[float, str]]:
    before: PartitionObservation | None = None
    for view in views:
        topic, number = view.partition
        name, isr = f"{topic}-{number}", ", ".join(map(str, view.isr)) or "empty"
        if before is not None and since <= view.t <= until:
            if view.leader != before.leader and view.leader >= 0:
                leader = _node(plan, view.leader)
                yield view.t, f"{leader} became leader of {name} (epoch {view.leader_epoch}, ISR {isr})"
            elif view.leader != before.leader:
                yield view.t, f"{name} lost its leader"
            elif view.observer == DECIDED and set(view.isr) != set(before.isr):
                change = "shrank" if len(view.isr) < len(before.isr) else "grew"
                yield view.t, f"the ISR of {name} {change} to {isr}"
        before = view


def _controllers(plan: Plan, journal: Journal, since: float, until: float) -> Iterator[tuple[float, str]]:
    newest: tuple[int, int] | None = None
    for event in journal.of("state"):
        if event.data.get("what") != "controller" or event.data["active"] < 0:
            continue
        seen = (event.data["epoch"], event.data["active"])
        if newest is not None and seen[0] > newest[0] and seen[1] != newest[1] and since <= event.t <= until:
            yield event.t, f"{_node(plan, seen[1])} became the active controller (epoch {seen[0]})"
        newest = max(newest or seen, seen)


def _named(plan: Plan, finding: Finding) -> tuple[set[TopicPartition], set[str]]:
    """Return the partitions and nodes that the rows of a finding name, or else the step that it belongs to."""
    partitions: set[str] = set()
    nodes: set[str] = set()
    table = finding.counterexample
    if table is not None:
        for column, found in (("partition", partitions), ("node", nodes)):
            if column in table.columns:
                found |= {str(row[table.columns.index(column)]) for row in table.rows}
    step = next((s for n, s in enumerate(plan.steps) if plan.step_name(n) == finding.evidence.get("step")), None)
    topic, number = getattr(step, "topic", None), getattr(step, "partition", None)
    if isinstance(number, str):
        partitions.add(number)
    elif topic is not None:
        partitions.add(f"{topic}-{number or 0}")
    return {each for each in _partitions(plan) if f"{each[0]}-{each[1]}" in partitions}, nodes


def _partitions(plan: Plan) -> Iterator[TopicPartition]:
    for topic in plan.topics:
        yield from ((topic.name, number) for number in range(len(topic.assignments)))


def _node(plan: Plan, id: int) -> str:
    found = (node.name for node in plan.topology.nodes if node.id == id and node.is_original)
    return next(found, f"broker {id}")
