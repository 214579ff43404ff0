"""Lanes of partitions: the members of the ISR, and the acknowledged records that survive."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fencepost.harness.checkers.control import DECIDED, PartitionObservation, TopicPartition
from fencepost.harness.checkers.history import History
from fencepost.harness.plan.model import Plan
from fencepost.harness.report.shapes import Change, Curve, Curves, Group, Lane, Rows, Segment, sweep
from fencepost.results.records.verdict import Finding

MOST = 4
"""Partitions to show. If there are more, those with the most changes."""
POINTS = 240


def partition_groups(
    plan: Plan, history: History, duration: float, findings: Sequence[Finding] = ()
) -> tuple[Group, ...]:
    """Return a group of lanes for each partition shown. `findings` tell which records are lost."""
    known = {
        (topic.name, number): replicas for topic in plan.topics for number, replicas in enumerate(topic.assignments)
    }
    busy = sorted(known, key=lambda at: (-len(history.views.of(at)), at))[:MOST]
    return tuple(
        Group(f"partition {at[0]}-{at[1]}", tuple(_lanes(plan, history, at, known[at], duration, findings)))
        for at in sorted(busy)
    )


def _lanes(
    plan: Plan,
    history: History,
    at: TopicPartition,
    replicas: Sequence[int],
    duration: float,
    findings: Sequence[Finding],
) -> Iterable[Lane]:
    views = history.views.of(at)
    members = [*replicas, *sorted({member for view in views for member in view.isr} - set(replicas))]
    minimum = next((topic.config.get("min.insync.replicas") for topic in plan.topics if topic.name == at[0]), None)
    rows = tuple((str(member), _membership(member, views, duration)) for member in members)
    yield Rows("ISR", f"min {minimum}" if minimum else "", rows)
    curves = _acknowledged(history, at, findings)
    if curves:
        yield Curves("acknowledged", "acks=all", curves)


def _membership(member: int, views: Sequence[PartitionObservation], duration: float) -> tuple[Segment, ...]:
    changes: list[Change] = [(view.t, "view", view) for view in views]
    changes += [(view.t, "offline", member in view.offline or None) for view in views if view.observer != DECIDED]

    def draw(state: Mapping[str, Any]) -> Segment | None:
        view: PartitionObservation = state["view"]
        if member not in view.isr:
            return Segment(0, 0, "offline", ("offline",), f"{member} is offline") if "offline" in state else None
        if view.leader == member:
            labels = (f"leader · epoch {view.leader_epoch}", "leader")
            return Segment(0, 0, "leader", labels, f"{member} leads at epoch {view.leader_epoch}")
        return Segment(0, 0, "active", (), f"{member} is in the ISR")

    return sweep(changes, duration, draw)


def _acknowledged(history: History, at: TopicPartition, findings: Sequence[Finding]) -> tuple[Curve, ...]:
    """Return the count of acknowledged records over time, and of those that are there at the end.

    The final read decides. Where it did not come to the end of the partition, the loss that the findings have does.
    """
    promises = sorted((p for p in history.promises if p.at == at), key=lambda promise: promise.acknowledged)
    if not promises:
        return ()
    times = [promise.acknowledged for promise in promises]
    total = Curve("acked", f"{len(promises)} acknowledged", _points(times))
    if at in history.final:
        kept, word = [each.acknowledged for each in promises if history.kept(at, each.value)], "there at the end"
    else:
        lost = _lost_offsets(at, findings)
        kept, word = [each.acknowledged for each in promises if each.offset not in lost], "not found lost"
        if not lost:
            return (total,)
    if len(kept) == len(promises):
        return (Curve("acked", f"{len(promises)} acknowledged, all there at the end", _points(times)),)
    return (total, Curve("kept", f"{len(kept)} {word}", _points(kept, [times[0], times[-1]])))


def _lost_offsets(at: TopicPartition, findings: Sequence[Finding]) -> frozenset[int]:
    ranges = [
        each
        for finding in findings
        for each in finding.evidence.get("loss", {}).get("extent", {}).get(f"{at[0]}-{at[1]}", ())
    ]
    return frozenset(offset for first, last in ranges for offset in range(first, last + 1))


def _points(times: Sequence[float], more: Sequence[float] = ()) -> tuple[tuple[float, float], ...]:
    """Return the running count at some of its steps, always with the first and the last."""
    step = max(1, len(times) // POINTS)
    chosen = sorted({*times[::step], *times[-1:], *more})
    return tuple((t, float(bisect_left(times, t + 1e-9))) for t in chosen)
