"""Lost write: acknowledged at acks=all, at or below the highest offset that anybody read, and read by nobody.

The bound is what was *read*. A high watermark from a checkpoint proves nothing: it is stale after kill -9.
What was acknowledged above the bound is the business of `unseen`, which needs a final read.
"""

from harness.checkers.check import Check
from harness.checkers.history import History
from harness.checkers.missing import COLUMNS, bounds, describe, intact_before, row, successor
from results.records.verdict import Basis, Finding

CHECK = Check("lost-write", "Acknowledged records are lost", "ACK-01", Basis.ABSENCE)


def lost_write(history: History) -> Finding:
    """Linear in sends and reads."""
    bound = bounds(history)
    judged = [promise for promise in history.promises if promise.offset <= bound.get(promise.at, -1)]
    lost = [promise for promise in judged if promise.value not in history.values_read]
    beyond = len(history.promises) - len(judged)
    if not lost:
        sentence = f"Each of {len(judged)} acknowledged records below the highest offset read was read."
        return CHECK.held(len(judged), sentence, above_bound=beyond)
    at, what_followed = successor(history, lost)
    return CHECK.broken(
        len(judged),
        f"{describe(lost)} acknowledged with acks=all were passed over by all who read.{what_followed}",
        COLUMNS,
        [row(history, promise) for promise in lost],
        at=at,
        context=[row(history, promise) for promise in intact_before(history, lost)],
        above_bound=beyond,
    )
