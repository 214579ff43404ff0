"""The shared parts of `lost_write` and `unseen`: the highest offsets read, and the rows of missing records."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fencepost.harness.checkers.check import named_places, shown_offset
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History, Promise

COLUMNS = ("partition", "offset", "record", "producer", "acknowledged", "leader then", "ISR then", "final read")


def bounds(history: History) -> Mapping[TopicPartition, int]:
    """Return the highest offset that was read of each partition."""
    return {at: max(values) for at, values in history.reads.items()}


def describe(promises: Sequence[Promise]) -> str:
    """Describe the number and places of records: `220 records (u-0 offsets 100 to 319)`."""
    places = named_places((promise.at, promise.offset) for promise in promises)
    return f"{len(promises)} record{'s'[: len(promises) != 1]} ({places})"


def row(history: History, promise: Promise) -> tuple[Any, ...]:
    """Return a row: the record, the decided state at its acknowledgement, and the result of the final read."""
    topic, number = promise.at
    view = history.views.at(promise.at, promise.acknowledged)
    return (
        f"{topic}-{number}",
        shown_offset(promise.offset),
        promise.value,
        promise.process,
        f"{promise.acknowledged:.2f} s",
        "unknown" if view is None else f"{view.leader} (epoch {view.leader_epoch})",
        "unknown" if view is None else ", ".join(map(str, view.isr)),
        found(history, promise.at, promise.offset, promise.value),
    )


def found(history: History, at: TopicPartition, offset: int, value: str) -> str:
    """Describe the final read at an offset: `there`, `absent`, `absent: other`, or `not read`."""
    final = history.final.get(at)
    if final is None:
        return "not read"
    now = final.values.get(offset)
    if now == value:
        return "there"
    return "absent" if now is None else f"absent: {now}"


def intact_before(history: History, missing: Iterable[Promise]) -> list[Promise]:
    """Return for each partition the last promised record below the first missing one that is there."""
    first: dict[TopicPartition, int] = {}
    for promise in missing:
        first[promise.at] = min(promise.offset, first.get(promise.at, promise.offset))
    last: dict[TopicPartition, Promise] = {}
    for promise in history.promises:
        if promise.offset >= first.get(promise.at, promise.offset) or not history.known(promise.at, promise.value):
            continue
        if promise.at not in last or promise.offset > last[promise.at].offset:
            last[promise.at] = promise
    return list(last.values())


def successor(history: History, missing: Sequence[Promise]) -> tuple[float, str]:
    """Return the time at which the next leader was seen after the last missing record, and a message about that leader.

    Without a next leader, return the time of that record's acknowledgement, and no message.
    """
    last = max(missing, key=lambda promise: promise.acknowledged)
    view = history.views.next_leader(last.at, last.acknowledged)
    if view is None:
        return last.acknowledged, ""
    isr = ", ".join(map(str, view.isr))
    return view.t, f" The next leader was {view.leader} (epoch {view.leader_epoch}, ISR {isr}), seen at {view.t:.2f} s."
