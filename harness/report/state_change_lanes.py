"""Lanes of state changes: the queue of each broker, the outcome of its requests, the steps of reassignments."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fencepost.harness.report.shapes import Bars, Change, Mark, Segment, sweep
from fencepost.harness.report.state_changes import MoveStep, StateChangeRequest, StateChanges
from fencepost.results.records.journal import Journal

MOST_MOVES = 4
MOST_MARKS = 60
"""Requests of a broker that get a mark."""
_ENDS = frozenset({"reassigned-deleted", "leader-deleted"})
"""Steps that end a move."""


def queue_lanes(journal: Journal, state_changes: StateChanges) -> tuple[Bars, ...]:
    """Return a lane for each broker with requests: the length of its queue in ZooKeeper."""
    lengths: dict[int, list[Change]] = {}
    for event in journal.of("state"):
        if event.data.get("what") == "queue":
            lengths.setdefault(int(event.data["broker"]), []).append((event.t, "length", event.data["length"] or None))
    brokers = sorted({*lengths, *(request.to for request in state_changes.requests)})
    return tuple(_queue(broker, lengths.get(broker, []), state_changes, journal.duration) for broker in brokers)


def move_lanes(journal: Journal, state_changes: StateChanges) -> tuple[Bars, ...]:
    """Return a lane for each of the first partitions that were moved or deleted, with a segment for each step."""
    by_partition: dict[str, list[MoveStep]] = {}
    for step in state_changes.steps:
        by_partition.setdefault(step.partition, []).append(step)
    shown = list(by_partition.items())[:MOST_MOVES]
    left = len(by_partition) - len(shown)
    note = f"and {left} more" if left else "reassigned or deleted"
    return tuple(Bars(partition, note, tuple(_step_segments(steps, journal.duration))) for partition, steps in shown)


def _queue(broker: int, lengths: Sequence[Change], state_changes: StateChanges, duration: float) -> Bars:
    requests = [request for request in state_changes.requests if request.to == broker]

    def draw(state: Mapping[str, Any]) -> Segment | None:
        if "length" not in state:
            return None
        length = state["length"]
        return Segment(
            0, 0, "waiting", (f"{length} waiting", str(length)), f"{length} requests wait for broker {broker}"
        )

    marks = [*_marks(requests[:MOST_MARKS]), *_full(state_changes, broker)]
    return Bars(f"queue of {broker}", _counts(requests), sweep(lengths, duration, draw), tuple(marks))


def _counts(requests: Sequence[StateChangeRequest]) -> str:
    kinds = {kind: sum(request.change.startswith(kind) for request in requests) for kind in ("start", "close")}
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count) or "no requests"


def _marks(requests: Sequence[StateChangeRequest]) -> Iterator[Mark]:
    for request in requests:
        if request.ended is not None:
            by = "a command" if request.leader < 0 else f"leader {request.leader}"
            tip = f"{request.change} of {request.partition} from {by}, at epoch {request.epoch}: {request.how}"
            yield Mark(request.ended, request.how, "", f"{tip} {request.remark}".rstrip())


def _full(state_changes: StateChanges, broker: int) -> Iterator[Mark]:
    for t, of in state_changes.full:
        if of == broker:
            yield Mark(t, "failed", "full", f"FollowerStateChangeQueueFull: broker {broker} at {t:.2f} s")


def _step_segments(steps: Sequence[MoveStep], duration: float) -> Iterator[Segment]:
    """Yield a segment for each step, up to the next step."""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        end = following.t if following else duration
        if step.step in _ENDS and (following is None or following.step == "noticed"):
            end = min(end, step.t + duration / 100)
        tip = f"{step.partition}: leader {step.leader} did {step.step} at epoch {step.epoch}"
        yield Segment(step.t, end, "move", (step.step,), tip)
