"""Evidence that is taken out of recorded journals, and the checks that rested on it.

A check *needs* a kind of event if nothing can be judged without it (`rests_on` of its checker), and *counts* it if each
such event is one of the items that it judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from fencepost.harness.checkers.checker import Need
from fencepost.harness.checkers.registry import checkers
from fencepost.harness.plan.model import Plan
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import RunVerdict, Verdict

Kind = str
"""A kind of event: its type with what tells its data apart, such as `op:send`, `state:partition`, `fault:proven`."""

NEEDS: Mapping[str, frozenset[Kind]] = {
    check.name: each.rests_on for each in checkers() if each.rests_on is not None for check in each.checks
}
"""By check. On a design without controllers nothing needs `state:controller`."""
COUNTS: Mapping[str, frozenset[Kind]] = {
    check.name: each.counts for each in checkers() if each.counts for check in each.checks
}
"""By check. Taking such events away has to lower its number. Others compare two events, or take one of many."""
NO_RULES = frozenset({"coverage", "stale-metadata", "produced", "committed", "grouped", "faults", "steps"})
"""The checks whose number says nothing of a rule."""
OF_FILES = frozenset(check.name for each in checkers() if Need.LOGS in each.needs for check in each.checks)
"""The checks that rest on the files that nodes left, which no recorded journal has."""


def kind_of(event: Event) -> Kind:
    """Return the kind of an event."""
    data = event.data
    match event.type:
        case "op":
            return f"op:{data.get('f')}" + ("-final" if data.get("f") == "poll" and data.get("final") else "")
        case "state" | "note":
            return f"{event.type}:{data.get('what')}"
        case _:
            return f"{event.type}:{event.phase}"


@dataclass(frozen=True)
class Removal:
    """A part of the evidence: all events for which `takes` is true."""

    name: str
    takes: Callable[[Event], bool]

    def of(self, journal: Journal) -> tuple[Journal, Counter[Kind]]:
        """Return the journal without the events, and the numbers of those that were taken out, by kind."""
        taken = Counter(kind_of(each) for each in journal.events if self.takes(each))
        return replace(journal, events=tuple(each for each in journal.events if not self.takes(each))), taken


def removals(plan: Plan, journal: Journal, *, whole: bool = False) -> Iterator[Removal]:
    """Yield each type of event, each client, each node and each final read; `whole`: also each kind of each of them."""
    kinds = sorted({kind_of(each) for each in journal.events})
    yield from (Removal(kind, _of_kind(kind)) for kind in kinds)
    clients = [*(each.name for each in plan.workload.producers), *(each.name for each in plan.workload.consumers)]
    finals = {str(each.data["process"]) for each in journal.of("op") if each.data.get("f") == "final"}
    parts = {f"client {name}": _of_process(name) for name in clients}
    parts |= {f"final read {name}": _of_process(name) for name in sorted(finals)}
    parts |= {f"node {node.name}": _of_node(node.name) for node in plan.topology.nodes}
    yield from (Removal(name, takes) for name, takes in parts.items())
    if whole:
        for name, takes in parts.items():
            for kind in sorted({kind_of(each) for each in journal.events if takes(each)}):
                yield Removal(f"{kind} of {name}", _both(takes, kind))


def _of_kind(kind: Kind) -> Callable[[Event], bool]:
    return lambda event: kind_of(event) == kind


def _of_process(name: str) -> Callable[[Event], bool]:
    return lambda event: event.type == "op" and event.data.get("process") == name


def _of_node(name: str) -> Callable[[Event], bool]:
    return lambda event: name in (event.node, event.id if event.type == "node" else None)


def _both(takes: Callable[[Event], bool], kind: Kind) -> Callable[[Event], bool]:
    return lambda event: kind_of(event) == kind and takes(event)


def numbers(verdict: RunVerdict) -> Counter[str]:
    """Return over how many items each check of a rule held."""
    judged: Counter[str] = Counter()
    for finding in verdict.of(Verdict.PASS):
        if finding.check not in NO_RULES and finding.requirements:
            judged[finding.check] += finding.evidence.get("judged") or 0
    return judged


def unjustly_held(
    before: RunVerdict, after: RunVerdict, taken: Mapping[Kind, int], left: frozenset[Kind], *, controllers: bool
) -> list[str]:
    """Return the checks that hold as before although what they rested on was taken out.

    `left` are the kinds of which events are left.
    """
    if after.verdict is not Verdict.PASS:
        return []
    was, now = numbers(before), numbers(after)
    found = []
    for check in was.keys() | now.keys():
        needed = {kind for kind in NEEDS[check] if controllers or kind != "state:controller"}
        counted = COUNTS.get(check, frozenset()) & taken.keys()
        if now[check] and (gone := needed & taken.keys() - left):
            found.append(f"{check} holds over {now[check]} items without any {', '.join(gone)}")
        elif now[check] and now[check] >= was[check] and counted:
            found.append(f"{check} holds over {now[check]} items as before, without some {', '.join(counted)}")
    return found
