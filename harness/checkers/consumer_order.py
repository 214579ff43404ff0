"""The order of the records that one consumer got of one partition: it must not go back, nor skip existing records.

Steps are judged inside one poll and from one poll to the next. After an assignment, a seek or a rebalance nothing is
expected of the next record, so the step from the poll before is not judged. A hole in the offsets is a skip only if a
record is known to be in it: acknowledged at acks=all, or read by any consumer. Those of a transaction that was not
certainly committed are passed over by right.
"""

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from fencepost.harness.checkers.check import Check, extent
from fencepost.harness.checkers.checker import LossRole, checker
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History, Move
from fencepost.results.records.verdict import Basis, Finding

BACK = Check("nonmonotonic-poll", "A consumer went back to an earlier offset", "ACK-07", Basis.PRESENCE)
SKIP = Check("poll-skip", "A consumer skipped records", "ACK-07", Basis.PRESENCE)
_COLUMNS = ("consumer", "partition", "where", "at", "from offset", "to offset", "records between")


@checker(BACK, rank=31, every_run=True, loss=LossRole.PART, rests_on=[], counts=["op:poll", "op:poll-final"])
def nonmonotonic_poll(history: History) -> Finding:
    """Judge that offsets only grow in each step of a consumer. Linear in the records read."""
    moves = history.moves
    wrong = [move for move in moves if move.after.offset <= move.before.offset]
    if not wrong:
        return BACK.held(len(moves), f"Consumers went forward in each of {len(moves)} steps.")
    return BACK.broken(
        len(moves),
        f"Consumers got an offset at or below the one before, {len(wrong)} times.",
        _COLUMNS,
        [_row(move, 0) for move in wrong],
        at=min(move.poll.t for move in wrong),
        extent=extent((move.after.at, move.after.offset) for move in wrong),
    )


@checker(SKIP, rank=32, every_run=True, loss=LossRole.PART, rests_on=[], counts=["op:poll", "op:poll-final"])
def poll_skip(history: History) -> Finding:
    """Judge that no step of a consumer passes over a known record. Linear in the records read, after one sort."""
    moves = history.moves
    known = _known(history)
    wrong = []
    for move in moves:
        offsets = known[move.after.at]
        between = offsets[bisect_right(offsets, move.before.offset) : bisect_right(offsets, move.after.offset - 1)]
        if between:
            wrong.append((move, between))
    if not wrong:
        return SKIP.held(len(moves), f"Consumers skipped nothing in {len(moves)} steps.")
    return SKIP.broken(
        len(moves),
        f"Consumers skipped {sum(len(between) for _, between in wrong)} existing records, in {len(wrong)} steps.",
        _COLUMNS,
        [_row(move, len(between)) for move, between in wrong],
        at=min(move.poll.t for move, _ in wrong),
        extent=extent((move.after.at, offset) for move, between in wrong for offset in between),
    )


def _known(history: History) -> Mapping[TopicPartition, list[int]]:
    known = {
        at: {offset for offset, values in offsets.items() if not history.unsure.issuperset(values)}
        for at, offsets in history.reads.items()
    }
    for promise in history.promises:
        known.setdefault(promise.at, set()).add(promise.offset)
    return {at: sorted(offsets) for at, offsets in known.items()}


def _row(move: Move, between: int) -> tuple[Any, ...]:
    topic, number = move.after.at
    where = "inside a poll" if move.inside else "between polls"
    return (
        move.poll.process,
        f"{topic}-{number}",
        where,
        f"{move.poll.t:.2f} s",
        move.before.offset,
        move.after.offset,
        between,
    )
