"""Aborted read (G1a): a record whose send definitely failed was read."""

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.history import History, SendOutcome
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("aborted-read", "A record was read although its produce had failed", "ACK-03", Basis.PRESENCE)


@checker(CHECK, rank=22, every_run=True, rests_on=["op:send"])
def aborted_read(history: History) -> Finding:
    """Judge the records whose send failed; one with an unknown outcome may have happened. Linear in sends and reads."""
    failed = {send.value: send for send in history.sends if send.outcome is SendOutcome.FAIL}
    unknown = sum(send.outcome is SendOutcome.INFO for send in history.sends)
    rows = []
    first = []
    for ((topic, number), offset, value), poll in history.first_reads.items():
        if send := failed.get(value):
            rows.append((f"{topic}-{number}", offset, value, send.process, send.error, f"{poll.t:.2f} s", poll.process))
            first.append(poll.t)
    judged = sum(history.was_read(send) for send in failed.values())
    if not rows:
        message = f"None of {judged} records whose produce failed was read, of {len(failed)} in all."
        return CHECK.held(judged, message, unknown=unknown)
    return CHECK.broken(
        len(failed),
        f"{len(rows)} records were read although their produce had failed.",
        ("partition", "offset", "record", "producer", "failed with", "read", "by"),
        rows,
        at=min(first),
        unknown=unknown,
    )
