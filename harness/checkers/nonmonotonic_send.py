"""Nonmonotonic send: the offsets that one producer got in a partition go back, in the order of its sends.

A producer without idempotence may reorder its own records by a retry: its steps are counted, not judged.
"""

from fencepost.harness.checkers.check import Check, extent
from fencepost.harness.checkers.checker import LossRole, checker
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History, Send, SendOutcome
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("nonmonotonic-send", "The offsets of an idempotent producer went back", "ACK-06", Basis.PRESENCE)


@checker(CHECK, rank=30, every_run=True, loss=LossRole.PART, rests_on=["op:send"])
def nonmonotonic_send(history: History) -> Finding:
    """Judge the steps from one acknowledged send of a producer to its next. Linear in the sends."""
    last: dict[tuple[str, TopicPartition], Send] = {}
    judged = reordered = 0
    wrong: list[tuple[TopicPartition, Send, Send]] = []
    for send in history.sends:
        if send.outcome is not SendOutcome.OK or send.partition is None or send.offset is None or send.acks != "all":
            continue
        at = (send.topic, send.partition)
        before = last.get((send.process, at))
        last[send.process, at] = send
        if before is None or before.offset is None:
            continue
        judged += send.idempotent
        if send.offset <= before.offset:
            if send.idempotent:
                wrong.append((at, before, send))
            else:
                reordered += 1
    if not wrong:
        message = f"Offsets grew in each of {judged} steps of idempotent producers."
        return CHECK.held(judged, message, reordered_without_idempotence=reordered)
    return CHECK.broken(
        judged,
        f"Idempotent producers got an offset at or below the one before, {len(wrong)} times.",
        ("producer", "partition", "record", "offset", "acknowledged", "next record", "its offset", "its time"),
        [
            (
                after.process,
                f"{topic}-{number}",
                before.value,
                before.offset,
                f"{before.completed:.2f} s",
                after.value,
                after.offset,
                f"{after.completed:.2f} s",
            )
            for (topic, number), before, after in wrong
        ],
        at=min(after.completed or 0.0 for _, _, after in wrong),
        extent=extent((at, after.offset) for at, _, after in wrong if after.offset is not None),
        reordered_without_idempotence=reordered,
    )
