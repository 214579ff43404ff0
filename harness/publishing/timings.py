"""Rows of the table `timings`: phases and steps of a run, and how fast the cluster reacted to faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import Journal

Row = dict[str, Any]

_FENCED = ("fenced", "gone", "inactive")


def timing_rows(plan: Plan, journal: Journal, faults: Sequence[Row], changes: Sequence[Row]) -> Iterator[Row]:
    """Yield the timings of a run. `faults` and `changes` are its rows in the tables of these names."""
    yield from _phases(journal)
    yield from _steps(journal)
    yield from _starts(journal)
    ids = {node.name: str(node.id) for node in plan.topology.nodes if "broker" in node.roles}
    nodes_of: dict[tuple[str, str], Row] = {}
    for fault in faults:
        nodes_of.setdefault((fault["fault"], fault["node"] or ""), fault)
    seen: set[str] = set()
    for fault in nodes_of.values():
        if fault["fault"] not in seen:
            seen.add(fault["fault"])
            yield from _fault(fault)
        if fault["node"] in ids and fault["injected_s"] is not None:
            yield from _reactions(fault, fault["node"], ids[fault["node"]], changes)


def _row(timing: str, subject: str | None, begin: float, end: float | None, outcome: str = "done") -> Row:
    return {
        "timing": timing,
        "subject": subject,
        "begin_s": begin,
        "seconds": None if end is None else round(end - begin, 6),
        "outcome": outcome if end is not None else "unseen",
    }


def _phases(journal: Journal) -> Iterator[Row]:
    """Yield the phases around the steps: the start of the cluster, and the end with its last read."""
    steps = [event.t for event in journal.of("step")]
    ends = [event.t for event in journal.of("run", "end")]
    if steps:
        yield _row("run start", None, 0.0, steps[0])
        if ends:
            yield _row("run end", None, steps[-1], ends[-1])


def _steps(journal: Journal) -> Iterator[Row]:
    ends = {event.id: event for event in journal.of("step", "end")}
    for begin in journal.of("step", "begin"):
        end = ends.get(begin.id)
        if end is None:
            yield _row("step", begin.id, begin.t, None)
        else:
            yield _row("step", begin.id, begin.t, end.t, str(end.data.get("outcome", "done")))


def _starts(journal: Journal) -> Iterator[Row]:
    begun: dict[str, float] = {}
    for event in journal.of("node", "started", "ready"):
        node = event.node or event.id
        if event.phase == "started":
            begun[node] = event.t
        elif node in begun:
            yield _row("node start", node, begun.pop(node), event.t)
    for node, at in begun.items():
        yield _row("node start", node, at, None)


def _fault(fault: Row) -> Iterator[Row]:
    """Yield how long it took to prove and to heal a fault."""
    of = {"fault": fault["fault"], "fault_kind": fault["kind"]}
    if fault["proven_s"] is not None:
        yield _row("proof", fault["fault"], fault["ordered_s"], fault["proven_s"]) | of
    if fault["healing_s"] is not None:
        yield _row("healing", fault["fault"], fault["healing_s"], fault["healed_s"]) | of


def _reactions(fault: Row, node: str, id: str, changes: Sequence[Row]) -> Iterator[Row]:
    """Yield the reactions to a fault on a broker while it was at work, and to its healing.

    A reaction that did not come is not reported: few faults have to cause each of them.
    """
    of = {"fault": fault["fault"], "fault_kind": fault["kind"]}
    injected, healing = fault["injected_s"], fault["healing_s"]
    until = float("inf") if healing is None else healing
    during = [change for change in changes if injected <= change["at_s"] <= until]
    found = [
        ("failover", lambda c: c["kind"] == "leader" and c["before"] == id and c["after"] not in (id, "-1")),
        ("leaderless", lambda c: c["kind"] == "leader" and c["before"] == id and c["after"] == "-1"),
        ("isr shrink", lambda c: c["kind"] == "isr" and _left(c, id)),
        ("fencing", lambda c: _is_lease(c, node, id) and c["after"] in _FENCED),
    ]
    for timing, matches in found:
        for change in _first(during, matches):
            yield _row(timing, change["subject"], injected, change["at_s"]) | of
    if healing is None:
        return
    after = [change for change in changes if change["at_s"] >= healing]
    returns = [
        ("isr rejoin", lambda c: c["kind"] == "isr" and _came(c, id)),
        ("unfencing", lambda c: _is_lease(c, node, id) and c["after"] not in _FENCED and c["before"] in _FENCED),
    ]
    for timing, matches in returns:
        for change in _first(after, matches):
            yield _row(timing, change["subject"], healing, change["at_s"]) | of


def _first(changes: Sequence[Row], matches: Any) -> Iterator[Row]:
    """Yield the first change of each subject that matches."""
    found: dict[str, Row] = {}
    for change in changes:
        if matches(change):
            found.setdefault(change["subject"], change)
    yield from found.values()


def _is_lease(change: Row, node: str, id: str) -> bool:
    return change["kind"] == "lease" and change["subject"] in (node, id)


def _left(change: Row, id: str) -> bool:
    return id in (change["before"] or "").split(",") and id not in change["after"].split(",")


def _came(change: Row, id: str) -> bool:
    return change["before"] is not None and id not in change["before"].split(",") and id in change["after"].split(",")
