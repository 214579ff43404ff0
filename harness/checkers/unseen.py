"""Unseen: acknowledged at acks=all, and absent when the whole partition was read to its end.

A consumer may have had the record before: it is gone all the same, and so are all records of a topic that is gone
though no step deleted it, and those below a log start that moved by itself. What the plan had deleted is not missed.
`lost_write` finds records below the highest offset read, and needs no final read for it.
`unread` names the partitions that were not read to their end, so that their tails are unknown.
"""

from fencepost.harness.checkers.check import Check, extent
from fencepost.harness.checkers.checker import LossRole, checker
from fencepost.harness.checkers.history import History, Promise
from fencepost.harness.checkers.missing import COLUMNS, describe, intact_before, row, successor
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("unseen", "Acknowledged records are gone", "ACK-01", Basis.ABSENCE)
TO_THE_END = Check("unread", "A partition was not read to its end", "ACK-01", Basis.ABSENCE)


@checker(CHECK, rank=10, every_run=True, loss=LossRole.LEAD, rests_on=["op:final", "op:send"], counts=["op:send"])
def unseen(history: History) -> Finding:
    """Judge the partitions that were read to their end after the last producer. Linear in sends and reads."""
    judged = _judged(history)
    gone = gone_promises(history)
    if gone:
        at, what_followed = successor(history, gone)
        return CHECK.broken(
            len(judged),
            f"{describe(gone)} acknowledged with acks=all are gone.{what_followed}",
            COLUMNS,
            [row(history, promise) for promise in gone],
            at=at,
            context=[row(history, promise) for promise in intact_before(history, gone)],
            extent=extent((promise.at, promise.offset) for promise in gone),
        )
    return CHECK.held(len(judged), f"The final read found each of {len(judged)} acknowledged records.")


def gone_promises(history: History) -> list[Promise]:
    """Return the acknowledged records that the final read of their partition lacks."""
    return [
        promise
        for promise in _judged(history)
        if promise.at in history.vanished or not history.kept(promise.at, promise.value)
    ]


def _judged(history: History) -> list[Promise]:
    return [
        each
        for each in history.promises
        if each.at in history.vanished or (each.at in history.final and not history.was_deleted(each))
    ]


@checker(TO_THE_END, rank=11, every_run=True, rests_on=["op:final", "op:send"])
def unread(history: History) -> Finding:
    """Judge that each partition with an acknowledged record, unless the plan deleted it, was read to its end."""
    promised = {promise.at for promise in history.promises} - history.ended - history.vanished
    if missing := promised - set(history.final):
        partitions = ", ".join(sorted(f"{topic}-{number}" for topic, number in missing))
        return TO_THE_END.unjudged(
            f"The final read did not reach the end of {partitions}, so its last records are unknown."
        )
    return TO_THE_END.held(len(promised), f"The final read reached the end of {len(promised)} partitions.")
