"""Unseen: acknowledged at acks=all, above everything that was read, and not there when all was read to the end."""

from harness.checkers.check import Check
from harness.checkers.history import History
from harness.checkers.missing import COLUMNS, bounds, describe, intact_before, row
from results.records.verdict import Basis, Finding

CHECK = Check("unseen", "Acknowledged records are gone", "ACK-01", Basis.ABSENCE)


def unseen(history: History) -> Finding:
    """Linear in sends and reads. Judges only partitions that were read to their end after the last producer."""
    bound = bounds(history)
    above = [promise for promise in history.promises if promise.offset > bound.get(promise.at, -1)]
    judged = [promise for promise in history.promises if promise.at in history.final]
    gone = [promise for promise in above if promise.at in history.final and promise.value not in history.values_read]
    unread = sorted({f"{topic}-{number}" for topic, number in {p.at for p in history.promises} - set(history.final)})
    if gone:
        return CHECK.broken(
            len(judged),
            f"{describe(gone)} acknowledged with acks=all are gone: the log ended before them at the final read.",
            COLUMNS,
            [row(history, promise) for promise in gone],
            at=min(promise.acknowledged for promise in gone),
            context=[row(history, promise) for promise in intact_before(history, gone)],
        )
    if unread:
        partitions = ", ".join(unread)
        return CHECK.unjudged(
            f"The final read did not come to the end of {partitions}, so nothing is known of its tail."
        )
    return CHECK.held(len(judged), f"The final read went past each of {len(judged)} acknowledged records.")
