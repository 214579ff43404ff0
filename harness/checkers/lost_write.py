"""Lost write: acknowledged at acks=all, at or below the highest offset that was read, and never read.

The bound is the highest offset that was *read*. A high watermark from a checkpoint proves nothing: it is stale after
kill -9. Records that were acknowledged above the bound, or at an unknown offset, are judged by `unseen`, which needs a
final read.
"""

from fencepost.harness.checkers.check import Check, extent
from fencepost.harness.checkers.checker import LossRole, checker
from fencepost.harness.checkers.history import History, Promise
from fencepost.harness.checkers.missing import COLUMNS, bounds, describe, intact_before, row, successor
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("lost-write", "Acknowledged records are lost", "ACK-01", Basis.ABSENCE)


@checker(CHECK, rank=12, every_run=True, loss=LossRole.LEAD, rests_on=["op:send"], counts=["op:send"])
def lost_write(history: History) -> Finding:
    """Judge the acknowledged records up to the highest offset read. Linear in sends and reads."""
    judged = _judged(history)
    lost = skipped_promises(history)
    beyond = len(history.promises) - len(judged)
    if not lost:
        message = f"Each of {len(judged)} acknowledged records below the highest offset read was read."
        return CHECK.held(len(judged), message, above_bound=beyond)
    at, what_followed = successor(history, lost)
    return CHECK.broken(
        len(judged),
        f"{describe(lost)} acknowledged with acks=all were skipped by all consumers.{what_followed}",
        COLUMNS,
        [row(history, promise) for promise in lost],
        at=at,
        context=[row(history, promise) for promise in intact_before(history, lost)],
        above_bound=beyond,
        extent=extent((promise.at, promise.offset) for promise in lost),
    )


def skipped_promises(history: History) -> list[Promise]:
    """Return the acknowledged records that were never read, although a higher offset was."""
    return [promise for promise in _judged(history) if promise.value not in history.values_read]


def _judged(history: History) -> list[Promise]:
    bound = bounds(history)
    return [
        promise
        for promise in history.promises
        if 0 <= promise.offset <= bound.get(promise.at, -1) and not history.was_deleted(promise)
    ]
