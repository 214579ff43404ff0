"""What `lost_write` and `unseen` share: how far was read, and how a missing record is shown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.checkers.check import spans
from harness.checkers.control import TopicPartition
from harness.checkers.history import History, Promise

COLUMNS = ("partition", "offset", "record", "producer", "acknowledged", "leader then", "ISR then", "final read")


def bounds(history: History) -> Mapping[TopicPartition, int]:
    """The highest offset that anybody read, for each partition that was read at all."""
    return {at: max(values) for at, values in history.reads.items()}


def describe(promises: Sequence[Promise]) -> str:
    """How many, and where: `220 records (u-0 offsets 100 to 319)`."""
    by_partition: dict[TopicPartition, list[int]] = {}
    for promise in promises:
        by_partition.setdefault(promise.at, []).append(promise.offset)
    places = "; ".join(
        f"{topic}-{number} {spans(offsets)}" for (topic, number), offsets in sorted(by_partition.items())
    )
    return f"{len(promises)} record{'s'[: len(promises) != 1]} ({places})"


def row(history: History, promise: Promise) -> tuple[Any, ...]:
    """A record with what the cluster had decided when it acknowledged it, and what the final read found there."""
    topic, number = promise.at
    view = history.views.at(promise.at, promise.acknowledged)
    return (
        f"{topic}-{number}",
        promise.offset,
        promise.value,
        promise.process,
        f"{promise.acknowledged:.2f} s",
        "unknown" if view is None else f"{view.leader} (epoch {view.leader_epoch})",
        "unknown" if view is None else ", ".join(map(str, view.isr)),
        found(history, promise.at, promise.offset, promise.value),
    )


def found(history: History, at: TopicPartition, offset: int, value: str) -> str:
    """What stands at the offset of `value` after all: `there`, `absent`, `absent: other`, or `not read`."""
    final = history.final.get(at)
    if final is None:
        return "not read"
    now = final.values.get(offset)
    if now == value:
        return "there"
    return "absent" if now is None else f"absent: {now}"


def intact_before(history: History, missing: Iterable[Promise]) -> list[Promise]:
    """For each partition the last promised record below the first missing one, if it was read."""
    first: dict[TopicPartition, int] = {}
    for promise in missing:
        first[promise.at] = min(promise.offset, first.get(promise.at, promise.offset))
    last: dict[TopicPartition, Promise] = {}
    for promise in history.promises:
        if promise.at not in first or promise.offset >= first[promise.at] or promise.value not in history.values_read:
            continue
        if promise.at not in last or promise.offset > last[promise.at].offset:
            last[promise.at] = promise
    return list(last.values())


def successor(history: History, missing: Sequence[Promise]) -> tuple[float, str]:
    """Who led next after the last of them, and when; else when that one was acknowledged.

    The time, and a sentence that follows another.
    """
    last = max(missing, key=lambda promise: promise.acknowledged)
    view = history.views.next_leader(last.at, last.acknowledged)
    if view is None:
        return last.acknowledged, ""
    isr = ", ".join(map(str, view.isr))
    return view.t, f" The next leader was {view.leader} (epoch {view.leader_epoch}, ISR {isr}), seen at {view.t:.2f} s."
