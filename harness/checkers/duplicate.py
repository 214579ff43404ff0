"""Duplicate: one value at several offsets. An idempotent producer's records may not be; others' are counted.

Without idempotence a retry after a lost answer is allowed to write twice. An idempotent client that gives a record up
begins a new session, and sends what was under way again under it (KIP-360): so of each producer only the records are
judged whose fate was known before it first gave one up.
"""

from collections import defaultdict
from collections.abc import Mapping
from math import inf

from harness.checkers.check import Check
from harness.checkers.history import History, Outcome, Send
from results.records.verdict import Basis, Finding

CHECK = Check("duplicate", "A record of an idempotent producer stands in the log twice", "ACK-05", Basis.ABSENCE)


def duplicate(history: History) -> Finding:
    """Linear in the records read."""
    places: dict[str, list[str]] = defaultdict(list)
    for (topic, number), offsets in history.reads.items():
        for offset, values in offsets.items():
            for value in values:
                places[value].append(f"{topic}-{number} offset {offset}")
    once = _one_session(history)
    twice = {value: where for value, where in places.items() if len(where) > 1}
    wrong = {value: where for value, where in twice.items() if value in once}
    judged = sum(value in once for value in places)
    if not wrong:
        sentence = f"Each of {judged} records of idempotent producers that were read stands at one offset."
        return CHECK.held(judged, sentence, allowed_duplicates=len(twice))
    return CHECK.broken(
        judged,
        f"{len(wrong)} records of idempotent producers stand at more than one offset.",
        ("record", "producer", "sent", "found at"),
        [
            (value, once[value].process, f"{once[value].invoked:.2f} s", ", ".join(where))
            for value, where in wrong.items()
        ],
        at=min(once[value].invoked for value in wrong),
        allowed_duplicates=len(twice) - len(wrong),
    )


def _one_session(history: History) -> Mapping[str, Send]:
    """The sends of idempotent producers, by value, that ended before their producer first gave a record up."""
    given_up: dict[str, float] = defaultdict(lambda: inf)
    for send in history.sends:
        if send.outcome is Outcome.INFO and send.completed is not None:
            given_up[send.process] = min(given_up[send.process], send.completed)
    return {
        send.value: send
        for send in history.sends
        if send.idempotent and send.completed is not None and send.completed < given_up[send.process]
    }
