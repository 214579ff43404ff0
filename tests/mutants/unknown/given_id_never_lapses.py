"""A coordinator that waits without an end for a client to join with the id that it was given (against KIP-394).

If that answer was lost, the client has asked for another id: each rebalance now lasts as long as it may.
"""

from __future__ import annotations

from fencepost.cluster_impl.api.groups.group import Group
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("CRD-04", "GRP-03"),
    scenarios=(),
    unit="tests/mutants/unknown/test_lost_answer.py::test_an_id_that_its_client_never_got_lapses",
    kind=Kind.LOST_ANSWER,
)


def apply() -> None:
    honest = Group.give_id

    def give_id(self: Group, member_id: str, session_timeout: float, now: float) -> None:
        honest(self, member_id, float("inf"), now)

    Group.give_id = give_id  # type: ignore[method-assign]
