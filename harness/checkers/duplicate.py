"""Duplicate: one value at several offsets. It is a violation for idempotent producers, and counted for others.

Without idempotence a retry after a lost answer is allowed to write twice. Brokers know a retry by the producer's id and
epoch, and an idempotent client that begins a new epoch sends what was under way again under it (KIP-360): when it gave
a record up, and when one of its partitions was answered out of sequence, also after a leader died (librdkafka #4953).
So copies are wrong if they were written under one id and epoch, as the logs have them. Without such logs only those
records are judged that were answered before their producer first gave one up.
"""

from collections import defaultdict
from collections.abc import Collection
from math import inf

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History, SendOutcome
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("duplicate", "A record of an idempotent producer is in the log twice", "ACK-05", Basis.ABSENCE)

Place = tuple[TopicPartition, int]
"""A partition and an offset."""


@checker(CHECK, rank=21, every_run=True, rests_on=["op:send"])
def duplicate(history: History) -> Finding:
    """Judge the records of idempotent producers. Linear in the records read."""
    places: dict[str, list[Place]] = defaultdict(list)
    for at, offsets in history.reads.items():
        for offset, values in offsets.items():
            for value in values:
                places[value].append((at, offset))
    sends = {send.value: send for send in history.sends if send.idempotent}
    once = _one_session(history)
    twice = {value: where for value, where in places.items() if len(where) > 1}
    wrong = {value: where for value, where in twice.items() if value in sends and _wrong(history, value, where, once)}
    judged = sum(value in once or value in wrong for value in places)
    if not wrong:
        message = f"Each of {judged} records of idempotent producers that were read is at one offset."
        return CHECK.held(judged, message, allowed_duplicates=len(twice))
    return CHECK.broken(
        judged,
        f"{len(wrong)} records of idempotent producers are at more than one offset.",
        ("record", "producer", "sent", "found at"),
        [
            (value, sends[value].process, f"{sends[value].invoked:.2f} s", ", ".join(map(_name, where)))
            for value, where in wrong.items()
        ],
        at=min(sends[value].invoked for value in wrong),
        allowed_duplicates=len(twice) - len(wrong),
    )


def _wrong(history: History, value: str, places: list[Place], once: Collection[str]) -> bool:
    sessions = [history.session(at, offset, value) for at, offset in places]
    if None in sessions:
        return value in once
    return len(set(sessions)) < len(sessions)


def _name(place: Place) -> str:
    (topic, number), offset = place
    return f"{topic}-{number} offset {offset}"


def _one_session(history: History) -> frozenset[str]:
    """Return the values of idempotent producers that were answered before the producer first gave a record up."""
    given_up: dict[str, float] = defaultdict(lambda: inf)
    for send in history.sends:
        if send.outcome is SendOutcome.INFO and send.completed is not None:
            given_up[send.process] = min(given_up[send.process], send.completed)
    return frozenset(
        send.value
        for send in history.sends
        if send.idempotent and send.completed is not None and send.completed < given_up[send.process]
    )
