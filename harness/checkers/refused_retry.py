"""A fatal OUT_OF_ORDER_SEQUENCE_NUMBER for a record that is in the log: the batch was known, and was refused (CRD-06).

An idempotent producer sends a batch again if it got no answer. The leader that has it in its log recognizes it, or the
producer is ended by the refusal. That is so where a restarted leader forgot what it had (AK-13, AZ-06), and where it
took a batch before the one that comes first.

Nothing is judged after a fault that took records away from a replica: a log without a producer's last records refuses
the next one rightly, and another replica may bring them back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.exits import FORGETS_NOTHING
from fencepost.harness.checkers.history import History, SendOutcome
from fencepost.results.records.events import CLIENT_ENDED, Event
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

CHECK: Final = Check("refused-retry", "A batch that is in the log was refused", "CRD-06", Basis.PRESENCE)
_REFUSED = "OUT_OF_ORDER_SEQUENCE_NUMBER"
_PARTITION = re.compile(r" for (\S+) \[(\d+)\]")
"""How the client library names the partition of the request."""


@checker(CHECK, rank=80, rests_on=["op:send"])
def refused_retries(journal: Journal, history: History) -> list[Finding]:
    """Return a finding for each idempotent producer that was ended although its records are in the log."""
    if any(event.data.get("fault") not in FORGETS_NOTHING for event in journal.of("fault", "intent")):
        return []
    return [
        CHECK.broken(
            1,
            f"{ended.data['client']} was ended at {ended.t:.2f} s by {_REFUSED}, and {len(rows)} records that it had "
            f"sent to {at[0]}-{at[1]} before, and that were never acknowledged, are in the log: the leader did not "
            f"recognize a batch that it has.",
            ("partition", "offset", "value", "sent at s"),
            rows,
            at=ended.t,
            client=ended.data["client"],
        )
        for ended in journal.of("note")
        if ended.data.get("what") == CLIENT_ENDED and ended.data.get("error") == _REFUSED
        if (at := _partition(ended)) and (rows := list(_in_the_log(ended, at, history)))
    ]


def _partition(ended: Event) -> TopicPartition | None:
    found = _PARTITION.search(str(ended.data.get("message", "")))
    return (found[1], int(found[2])) if found else None


def _in_the_log(ended: Event, at: TopicPartition, history: History) -> Iterator[tuple[str, int, str, float]]:
    """Yield the records without an acknowledgement that the final read found in the partition."""
    final = history.final.get(at)
    offsets = {value: offset for offset, value in final.values.items()} if final else {}
    for send in history.sends:
        mine = send.process == ended.data["client"] and send.idempotent and send.invoked <= ended.t
        if mine and send.outcome is not SendOutcome.OK and send.value in offsets:
            yield f"{at[0]}-{at[1]}", offsets[send.value], send.value, round(send.invoked, 3)
