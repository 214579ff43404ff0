"""Consumed, then vanished: a record that a consumer got is not there when everything is read again.

A record that was served to a consumer is committed, with any acks. One that only a consumer at read_uncommitted got may
belong to a transaction that is aborted later.
"""

from fencepost.harness.checkers.check import Check, extent, named_places
from fencepost.harness.checkers.checker import LossRole, checker
from fencepost.harness.checkers.history import History, Read
from fencepost.harness.checkers.missing import found
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("consumed-then-vanished", "A record that a consumer read is gone", "ACK-02", Basis.ABSENCE)


@checker(CHECK, rank=13, every_run=True, loss=LossRole.LEAD, rests_on=["op:final", "op:poll"])
def consumed_then_vanished(history: History) -> Finding:
    """Judge the records read before the final read, but for those that the plan had deleted. Linear in the reads."""
    judged = _judged(history)
    gone = [each for each in judged if _is_gone(history, each)]
    if not gone:
        return CHECK.held(len(judged), f"Each of {len(judged)} records that a consumer read is there at the end.")
    polls = [history.first_reads[each] for each in gone]
    places = [(at, offset) for at, offset, _ in gone]
    count = f"{len(gone)} record{'s'[: len(gone) != 1]} ({named_places(places)})"
    return CHECK.broken(
        len(judged),
        f"{count} that a consumer read {'is' if len(gone) == 1 else 'are'} gone.",
        ("partition", "offset", "record", "seen", "by", "final read"),
        [
            (f"{at[0]}-{at[1]}", offset, value, f"{poll.t:.2f} s", poll.process, found(history, at, offset, value))
            for (at, offset, value), poll in zip(gone, polls, strict=True)
        ],
        at=min(poll.t for poll in polls),
        extent=extent(places),
    )


def vanished_records(history: History) -> list[Read]:
    """Return the records that a consumer read, and that the final read of their partition lacks."""
    return [each for each in _judged(history) if _is_gone(history, each)]


def _judged(history: History) -> list[Read]:
    return [
        Read(at, offset, value)
        for (at, offset, value), poll in history.first_reads.items()
        if not poll.final
        and at in history.final
        and offset >= history.deleted_before.get(at, 0)
        and not (poll.uncommitted and value in history.unsure)
    ]


def _is_gone(history: History, read: Read) -> bool:
    return history.final[read.at].values.get(read.offset) != read.value
