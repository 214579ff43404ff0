"""Lanes of state changes: how many requests wait for each broker, what became of them, and how far a move is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.report.shapes import Bars, Change, Mark, Segment, sweep
from harness.report.state_changes import MoveStep, Request, StateChanges
from results.records.journal import Journal

MOST_MOVES = 4
MOST_MARKS = 60
"""Requests of a broker that get a mark of their own."""
_ENDS = frozenset({"reassigned-deleted", "leader-deleted"})
"""Steps after which a move asks for nothing more."""


def queue_lanes(journal: Journal, told: StateChanges) -> tuple[Bars, ...]:
    """One for each broker that was sent anything: how long its queue was, as ZooKeeper had it."""
    lengths: dict[int, list[Change]] = {}
    for event in journal.of("state"):
        if event.data.get("what") == "queue":
            lengths.setdefault(int(event.data["broker"]), []).append((event.t, "length", event.data["length"] or None))
    brokers = sorted({*lengths, *(request.to for request in told.requests)})
    return tuple(_queue(broker, lengths.get(broker, []), told, journal.duration) for broker in brokers)


def move_lanes(journal: Journal, told: StateChanges) -> tuple[Bars, ...]:
    """One for each partition that was moved or deleted, of more than a few the first; a stretch for each step."""
    by_partition: dict[str, list[MoveStep]] = {}
    for step in told.steps:
        by_partition.setdefault(step.partition, []).append(step)
    shown = list(by_partition.items())[:MOST_MOVES]
    left = len(by_partition) - len(shown)
    note = f"and {left} more" if left else "reassigned or deleted"
    return tuple(Bars(partition, note, tuple(_stretches(steps, journal.duration))) for partition, steps in shown)


def _queue(broker: int, lengths: Sequence[Change], told: StateChanges, duration: float) -> Bars:
    requests = [request for request in told.requests if request.to == broker]

    def draw(state: Mapping[str, Any]) -> Segment | None:
        if "length" not in state:
            return None
        length = state["length"]
        return Segment(0, 0, "waiting", (f"{length} wait", str(length)), f"{length} requests wait for broker {broker}")

    marks = [*_marks(requests[:MOST_MARKS]), *_full(told, broker)]
    return Bars(f"queue of {broker}", _counts(requests), sweep(lengths, duration, draw), tuple(marks))


def _counts(requests: Sequence[Request]) -> str:
    kinds = {kind: sum(request.change.startswith(kind) for request in requests) for kind in ("start", "close")}
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count) or "no requests"


def _marks(requests: Sequence[Request]) -> Iterator[Mark]:
    for request in requests:
        if request.ended is not None:
            by = "a command" if request.leader < 0 else f"leader {request.leader}"
            tip = f"{request.change} of {request.partition} from {by}, at epoch {request.epoch}: {request.how}"
            yield Mark(request.ended, request.how, "", f"{tip} {request.remark}".rstrip())


def _full(told: StateChanges, broker: int) -> Iterator[Mark]:
    for t, of in told.full:
        if of == broker:
            yield Mark(t, "failed", "full", f"FollowerStateChangeQueueFull: broker {broker} at {t:.2f} s")


def _stretches(steps: Sequence[MoveStep], duration: float) -> Iterator[Segment]:
    """Each step holds until the next one."""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        end = following.t if following else duration
        if step.step in _ENDS and (following is None or following.step == "noticed"):
            end = min(end, step.t + duration / 100)
        tip = f"{step.partition}: leader {step.leader} did {step.step} at epoch {step.epoch}"
        yield Segment(step.t, end, "move", (step.step,), tip)
