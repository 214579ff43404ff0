"""Rows of the tables `timings` and `latencies`: how long phases, steps, reactions to faults and operations took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import floor, log2

from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import Journal
from fencepost.results.store.rows import FaultRow, LatencyRow, StateChangeRow, TimingRow

_FENCED = ("fenced", "gone", "inactive")


def timing_rows(
    plan: Plan, journal: Journal, faults: Sequence[FaultRow], changes: Sequence[StateChangeRow]
) -> Iterator[TimingRow]:
    yield from _phases(journal)
    yield from _steps(journal)
    yield from _starts(journal)
    ids = {node.name: str(node.id) for node in plan.topology.nodes if "broker" in node.roles}
    by_node: dict[tuple[str, str | None], FaultRow] = {}
    for fault in faults:
        by_node.setdefault((fault.fault, fault.node), fault)
    seen: set[str] = set()
    for fault in by_node.values():
        if fault.fault not in seen:
            seen.add(fault.fault)
            yield from _of_fault(fault, _fault(fault))
        if fault.node in ids and fault.injected_s is not None:
            yield from _of_fault(fault, _reactions(fault.injected_s, fault, ids[fault.node], changes))


def _row(timing: str, subject: str | None, begin: float, end: float | None, outcome: str = "done") -> TimingRow:
    return TimingRow(
        timing=timing,
        subject=subject,
        begin_s=begin,
        seconds=None if end is None else round(end - begin, 6),
        outcome=outcome if end is not None else "unseen",
    )


def _phases(journal: Journal) -> Iterator[TimingRow]:
    """Yield the phases around the steps: the start of the cluster, and the end with its last read."""
    steps = [event.t for event in journal.of("step")]
    ends = [event.t for event in journal.of("run", "end")]
    if steps:
        yield _row("run start", None, 0.0, steps[0])
        if ends:
            yield _row("run end", None, steps[-1], ends[-1])


def _steps(journal: Journal) -> Iterator[TimingRow]:
    ends = {event.id: event for event in journal.of("step", "end")}
    for begin in journal.of("step", "begin"):
        end = ends.get(begin.id)
        if end is None:
            yield _row("step", begin.id, begin.t, None)
        else:
            yield _row("step", begin.id, begin.t, end.t, str(end.data.get("outcome", "done")))


def _starts(journal: Journal) -> Iterator[TimingRow]:
    begun: dict[str, float] = {}
    for event in journal.of("node", "started", "ready"):
        node = event.node or event.id
        if event.phase == "started":
            begun[node] = event.t
        elif node in begun:
            yield _row("node start", node, begun.pop(node), event.t)
    for node, time in begun.items():
        yield _row("node start", node, time, None)


def _of_fault(fault: FaultRow, timings: Iterator[TimingRow]) -> Iterator[TimingRow]:
    return (replace(timing, fault=fault.fault, fault_kind=fault.kind) for timing in timings)


def _fault(fault: FaultRow) -> Iterator[TimingRow]:
    """Yield how long it took to prove and to heal a fault."""
    if fault.proven_s is not None:
        yield _row("proof", fault.fault, fault.ordered_s, fault.proven_s)
    if fault.healing_s is not None:
        yield _row("healing", fault.fault, fault.healing_s, fault.healed_s)


def _reactions(injected: float, fault: FaultRow, id: str, changes: Sequence[StateChangeRow]) -> Iterator[TimingRow]:
    """Yield the reactions to a fault on a broker while it was at work, and to its healing.

    A reaction that did not come is not reported: few faults have to cause each of them.
    """
    healing = fault.healing_s

    def is_lease(change: StateChangeRow) -> bool:
        return change.kind == "lease" and change.subject in (fault.node, id)

    def followed(change: StateChangeRow) -> bool:
        return change.kind == "leader" and change.before == id

    until = float("inf") if healing is None else healing
    during = [change for change in changes if injected <= change.at_s <= until]
    for change in _first(during, lambda c: followed(c) and c.after not in (id, "-1")):
        yield _row("failover", change.subject, injected, change.at_s)
    for change in _first(during, lambda c: followed(c) and c.after == "-1"):
        yield _row("leaderless", change.subject, injected, change.at_s)
    for change in _first(during, lambda c: c.kind == "isr" and id in _members(c.before) - _members(c.after)):
        yield _row("isr shrink", change.subject, injected, change.at_s)
    for change in _first(during, lambda c: is_lease(c) and c.after in _FENCED):
        yield _row("fencing", change.subject, injected, change.at_s)
    if healing is None:
        return
    after = [change for change in changes if change.at_s >= healing]
    for change in _first(
        after, lambda c: c.kind == "isr" and c.before is not None and id in _members(c.after) - _members(c.before)
    ):
        yield _row("isr rejoin", change.subject, healing, change.at_s)
    for change in _first(after, lambda c: is_lease(c) and c.after not in _FENCED and c.before in _FENCED):
        yield _row("unfencing", change.subject, healing, change.at_s)


def _first(changes: Sequence[StateChangeRow], matches: Callable[[StateChangeRow], bool]) -> Iterator[StateChangeRow]:
    """Yield the first change of each subject that matches."""
    first: dict[str, StateChangeRow] = {}
    for change in changes:
        if matches(change):
            first.setdefault(change.subject, change)
    yield from first.values()


def _members(isr: str | None) -> set[str]:
    return set((isr or "").split(","))


def latency_rows(journal: Journal) -> Iterator[LatencyRow]:
    """Yield a row for each operation, outcome, situation and bucket that occurred: histograms that can be merged."""
    begun: dict[str, tuple[float, str]] = {}
    active: set[str] = set()
    latencies: dict[tuple[str, str, str, int], list[float]] = defaultdict(list)
    for event in journal.events:
        if event.type == "fault" and event.phase in ("injected", "healed"):
            (active.add if event.phase == "injected" else active.discard)(event.id)
        elif event.type == "op" and event.phase == "invoke":
            begun[event.id] = (event.t, "fault" if active else "quiet")
        elif event.type == "op" and event.id in begun:
            begin, during = begun.pop(event.id)
            seconds = event.t - begin
            latencies[str(event.data.get("f", "unknown")), event.phase, during, bucket(seconds)].append(seconds)
    for (operation, outcome, during, number), durations in sorted(latencies.items()):
        yield LatencyRow(
            operation=operation,
            outcome=outcome,
            during=during,
            bucket=number,
            operations=len(durations),
            seconds=round(sum(durations), 6),
        )


def bucket(seconds: float) -> int:
    """Return the bucket of a latency: floor(4 log2(microseconds)), at least 0. A bucket is 19 % wide."""
    return max(0, floor(4 * log2(max(seconds * 1e6, 1.0))))
