"""Inconsistent offsets: several values, read or acknowledged, were at one offset of a partition.

Only acks=all counts as acknowledged: a record written with acks=1 may be truncated and its offset used again.
"""

from collections import defaultdict

from fencepost.harness.checkers.check import Check, extent
from fencepost.harness.checkers.checker import LossRole, checker
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("inconsistent-offsets", "One offset held several records", "ACK-04", Basis.PRESENCE)


@checker(CHECK, rank=20, every_run=True, loss=LossRole.PART, rests_on=[], counts=["op:poll", "op:poll-final"])
def inconsistent_offsets(history: History) -> Finding:
    """Judge that each offset held one record: each time after the first that it was read or acknowledged. Linear."""
    seen: dict[tuple[TopicPartition, int], dict[str, tuple[float, str]]] = defaultdict(dict)
    sightings = sum(len(poll.records) for poll in history.polls)
    for promise in history.promises:
        if promise.offset >= 0:
            sightings += 1
            how = f"acknowledged to {promise.process} at {promise.acknowledged:.2f} s"
            seen[promise.at, promise.offset].setdefault(promise.value, (promise.acknowledged, how))
    for (at, offset, value), poll in history.first_reads.items():
        seen[at, offset].setdefault(value, (poll.t, f"read by {poll.process} at {poll.t:.2f} s"))
    wrong = {place: values for place, values in seen.items() if len(values) > 1}
    if not wrong:
        message = f"Each of {len(seen)} offsets acknowledged or read held one record ({sightings} times)."
        return CHECK.held(sightings - len(seen), message)
    return CHECK.broken(
        len(seen),
        f"{len(wrong)} offsets held more than one record.",
        ("partition", "offset", "record", "seen"),
        [
            (f"{topic}-{number}", offset, value, how)
            for ((topic, number), offset), values in sorted(wrong.items())
            for value, (_, how) in values.items()
        ],
        at=min(sorted(t for t, _ in values.values())[1] for values in wrong.values()),
        offsets=len(wrong),
        extent=extent(wrong),
    )
