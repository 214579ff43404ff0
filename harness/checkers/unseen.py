"""Unseen: acknowledged at acks=all, and read by nobody although everything was read to its end.

`lost_write` finds the part of these below the highest offset read, and needs no final read for it. `unread` tells of
which partitions nothing can be said, whatever is found in others.
"""

from harness.checkers.check import Check
from harness.checkers.history import History
from harness.checkers.missing import COLUMNS, describe, intact_before, row, successor
from results.records.verdict import Basis, Finding

CHECK = Check("unseen", "Acknowledged records are gone", "ACK-01", Basis.ABSENCE)
TO_THE_END = Check("unread", "Everything was read to its end", "ACK-01", Basis.ABSENCE)


def unseen(history: History) -> Finding:
    """Linear in sends and reads. Judges only partitions that were read to their end after the last producer."""
    judged = [promise for promise in history.promises if promise.at in history.final]
    gone = [promise for promise in judged if promise.value not in history.values_read]
    if gone:
        at, what_followed = successor(history, gone)
        return CHECK.broken(
            len(judged),
            f"{describe(gone)} acknowledged with acks=all are gone.{what_followed}",
            COLUMNS,
            [row(history, promise) for promise in gone],
            at=at,
            context=[row(history, promise) for promise in intact_before(history, gone)],
        )
    return CHECK.held(len(judged), f"The final read found each of {len(judged)} acknowledged records.")


def unread(history: History) -> Finding:
    """Whether each partition with a promise was read to its end."""
    promised = {promise.at for promise in history.promises}
    if missing := promised - set(history.final):
        partitions = ", ".join(sorted(f"{topic}-{number}" for topic, number in missing))
        return TO_THE_END.unjudged(
            f"The final read did not come to the end of {partitions}, so nothing is known of its tail."
        )
    return TO_THE_END.held(len(promised), f"The final read came to the end of {len(promised)} partitions.")
