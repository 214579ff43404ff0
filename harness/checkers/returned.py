"""Returned: a record of a deleted topic is read from the topic that was created under its name."""

from fencepost.harness.checkers.check import Check, extent, named_places
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.history import History
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("returned", "A record of a deleted topic came back", "TOPIC-01", Basis.PRESENCE)


@checker(CHECK, rank=33, needs=[Need.RECREATED_TOPIC], rests_on=["op:final"])
def returned(history: History) -> Finding:
    """Judge the final read of topics that were deleted and created again."""
    judged = sum(len(history.final[at].values) for at in history.final if at[0] in history.recreated)
    if not history.returned:
        return CHECK.held(judged, f"None of {judged} records in topics that were created again is of a deleted one.")
    places = [(at, offset) for at, offset, _ in history.returned]
    sends = {send.value: send for send in history.sends}
    return CHECK.broken(
        judged,
        f"{len(places)} records of a deleted topic ({named_places(places)}) are in the one created after it.",
        ("partition", "offset", "record", "sent to", "sent at"),
        [
            (f"{at[0]}-{at[1]}", offset, value, sends[value].topic, f"{sends[value].invoked:.2f} s")
            for at, offset, value in history.returned
        ],
        at=None,
        extent=extent(places),
    )
