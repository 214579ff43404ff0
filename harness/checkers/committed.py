"""The records that a run proved committed: acknowledged at acks=all, or served to a consumer. Nothing else proves it.

A checkpointed high watermark does not: it is stale after kill -9, and a bound taken from it hides what was lost above.
A log is a sequence, so whatever lies below a committed record is committed with it: the bound of a partition is one
past the highest offset that was acknowledged or served. What lies above it may differ between replicas.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History


@dataclass(frozen=True, slots=True)
class CommittedRecords:
    """The records of one partition that were acknowledged or served, by offset; more than one at an offset is wrong.

    `bound` is exclusive. `records` counts distinct ones.
    """

    values: Mapping[int, tuple[str, ...]]
    bound: int
    records: int


def read_committed(history: History) -> Mapping[TopicPartition, CommittedRecords]:
    """Return the committed records of each partition that has any.

    Recreated topics are left out: their offsets begin anew, and no answer says which of the topics it is about.
    """
    values: dict[TopicPartition, dict[int, tuple[str, ...]]] = defaultdict(dict)
    for at, by_offset in history.reads.items():
        values[at].update(by_offset)
    for promise in history.promises:
        if promise.offset < 0:
            continue
        known = values[promise.at].get(promise.offset, ())
        if promise.value not in known:
            values[promise.at][promise.offset] = (*known, promise.value)
    return {
        at: CommittedRecords(by_offset, max(by_offset) + 1, sum(map(len, by_offset.values())))
        for at, by_offset in sorted(values.items())
        if by_offset and not was_recreated(history, at)
    }


def was_recreated(history: History, at: TopicPartition) -> bool:
    """Return whether a topic of this name was deleted and created again during the run."""
    return any(view.life for view in history.views.of(at))
