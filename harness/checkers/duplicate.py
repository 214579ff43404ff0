"""Duplicate: one value at several offsets. An idempotent producer's records may not be; others' are counted.

Without idempotence a retry after a lost answer is allowed to write twice.
"""

from collections import defaultdict

from harness.checkers.check import Check
from harness.checkers.history import History
from results.records.verdict import Basis, Finding

CHECK = Check("duplicate", "A record of an idempotent producer stands in the log twice", "ACK-05", Basis.PRESENCE)


def duplicate(history: History) -> Finding:
    """Linear in the records read."""
    places: dict[str, list[str]] = defaultdict(list)
    for (topic, number), offsets in history.reads.items():
        for offset, values in offsets.items():
            for value in values:
                places[value].append(f"{topic}-{number} offset {offset}")
    idempotent = {send.value: send for send in history.sends if send.idempotent}
    twice = {value: where for value, where in places.items() if len(where) > 1}
    wrong = {value: where for value, where in twice.items() if value in idempotent}
    allowed = len(twice) - len(wrong)
    judged = sum(value in idempotent for value in places)
    if not wrong:
        sentence = f"Each of {judged} records of idempotent producers that were read stands at one offset."
        return CHECK.held(judged, sentence, duplicates_without_idempotence=allowed)
    return CHECK.broken(
        judged,
        f"{len(wrong)} records of idempotent producers stand at more than one offset.",
        ("record", "producer", "sent", "found at"),
        [
            (value, idempotent[value].process, f"{idempotent[value].invoked:.2f} s", ", ".join(where))
            for value, where in wrong.items()
        ],
        at=min(idempotent[value].invoked for value in wrong),
        duplicates_without_idempotence=allowed,
    )
