"""Aborted read (G1a): a record whose send definitely failed was read."""

from harness.checkers.check import Check
from harness.checkers.history import History, Outcome
from results.records.verdict import Basis, Finding

CHECK = Check("aborted-read", "A record whose produce had failed was read", "ACK-03", Basis.PRESENCE)


def aborted_read(history: History) -> Finding:
    """Linear in sends and reads. Sends with an unknown outcome are not judged: they may have happened."""
    failed = {send.value: send for send in history.sends if send.outcome is Outcome.FAIL}
    unknown = sum(send.outcome is Outcome.INFO for send in history.sends)
    rows = []
    first = []
    for ((topic, number), offset, value), poll in history.first_reads.items():
        if send := failed.get(value):
            rows.append((f"{topic}-{number}", offset, value, send.process, send.error, f"{poll.t:.2f} s", poll.process))
            first.append(poll.t)
    if not rows:
        return CHECK.held(len(failed), f"None of {len(failed)} records whose produce failed was read.", unknown=unknown)
    return CHECK.broken(
        len(failed),
        f"{len(rows)} records were read although their produce had been refused.",
        ("partition", "offset", "record", "producer", "refused with", "read", "by"),
        rows,
        at=min(first),
        unknown=unknown,
    )
