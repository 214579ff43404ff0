"""Lanes of partitions: who is in the ISR, and how many acknowledged records are there in the end."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.checkers.control import DECIDED, PartitionView, TopicPartition
from harness.checkers.history import History
from harness.plan.model import Plan
from harness.report.shapes import Change, Curve, Curves, Group, Lane, Rows, Segment, sweep

MOST = 4
"""Partitions that are drawn; of more, those in which most happened."""
POINTS = 240


def partition_groups(plan: Plan, history: History, duration: float) -> tuple[Group, ...]:
    known = {
        (topic.name, number): replicas for topic in plan.topics for number, replicas in enumerate(topic.assignments)
    }
    busy = sorted(known, key=lambda at: (-len(history.views.of(at)), at))[:MOST]
    return tuple(
        Group(f"partition {at[0]}-{at[1]}", tuple(_lanes(plan, history, at, known[at], duration)))
        for at in sorted(busy)
    )


def _lanes(
    plan: Plan, history: History, at: TopicPartition, replicas: Sequence[int], duration: float
) -> Iterable[Lane]:
    views = history.views.of(at)
    members = [*replicas, *sorted({member for view in views for member in view.isr} - set(replicas))]
    minimum = next((topic.config.get("min.insync.replicas") for topic in plan.topics if topic.name == at[0]), None)
    rows = tuple((str(member), _membership(member, views, duration)) for member in members)
    yield Rows("ISR", f"min {minimum}" if minimum else "", rows)
    curves = _acknowledged(history, at)
    if curves:
        yield Curves("acknowledged", "acks=all", curves)


def _membership(member: int, views: Sequence[PartitionView], duration: float) -> tuple[Segment, ...]:
    changes: list[Change] = [(view.t, "view", view) for view in views]
    changes += [(view.t, "offline", member in view.offline or None) for view in views if view.observer != DECIDED]

    def draw(state: Mapping[str, Any]) -> Segment | None:
        view: PartitionView = state["view"]
        if member not in view.isr:
            return Segment(0, 0, "offline", ("offline",), f"{member} is offline") if "offline" in state else None
        if view.leader == member:
            labels = (f"leader · epoch {view.leader_epoch}", "leader")
            return Segment(0, 0, "leader", labels, f"{member} leads at epoch {view.leader_epoch}")
        return Segment(0, 0, "active", (), f"{member} is in the ISR")

    return sweep(changes, duration, draw)


def _acknowledged(history: History, at: TopicPartition) -> tuple[Curve, ...]:
    """How many were acknowledged by each time, and how many of these were there when all was read at the end."""
    promises = sorted((p for p in history.promises if p.at == at), key=lambda promise: promise.acknowledged)
    if not promises:
        return ()
    times = [promise.acknowledged for promise in promises]
    total = Curve("acked", f"{len(promises)} acknowledged", _points(times))
    if at not in history.final:
        return (total,)
    kept = [promise.acknowledged for promise in promises if promise.value in history.values_read]
    if len(kept) == len(promises):
        return (Curve("acked", f"{len(promises)} acknowledged, all there at the end", _points(times)),)
    return (total, Curve("kept", f"{len(kept)} there at the end", _points(kept, [times[0], times[-1]])))


def _points(times: Sequence[float], more: Sequence[float] = ()) -> tuple[tuple[float, float], ...]:
    """The running count, at some of its steps: the first and the last always."""
    step = max(1, len(times) // POINTS)
    chosen = sorted({*times[::step], *times[-1:], *more})
    return tuple((t, float(bisect_left(times, t + 1e-9))) for t in chosen)
