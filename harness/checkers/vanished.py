"""Consumed, then vanished: a record that a consumer was given is not there when everything is read again.

Served to a consumer is committed, with whatever acks it was produced.
"""

from harness.checkers.check import Check, spans
from harness.checkers.history import History
from harness.checkers.missing import found
from results.records.verdict import Basis, Finding

CHECK = Check("consumed-then-vanished", "A record that a consumer saw is gone", "ACK-02", Basis.ABSENCE)


def consumed_then_vanished(history: History) -> Finding:
    """Linear in the records read. Records below the log's start at the end were deleted, not lost."""
    judged = 0
    rows = []
    offsets = []
    first = []
    for (at, offset, value), poll in history.first_reads.items():
        final = history.final.get(at)
        if poll.final or final is None or offset < final.start:
            continue
        judged += 1
        if final.values.get(offset) != value:
            topic, number = at
            rows.append(
                (f"{topic}-{number}", offset, value, f"{poll.t:.2f} s", poll.process, found(history, at, offset, value))
            )
            offsets.append(offset)
            first.append(poll.t)
    if not rows:
        return CHECK.held(judged, f"Each of {judged} records that a consumer saw is there at the end.")
    return CHECK.broken(
        judged,
        f"{len(rows)} records that a consumer saw are gone ({spans(offsets)}).",
        ("partition", "offset", "record", "seen", "by", "final read"),
        rows,
        at=min(first),
    )
