"""A leader that answers AddRaftVoter and RemoveRaftVoter once the new set is in its own log (against KIP-853; K853-01).

In the minority it says that the voters have changed, and its successor takes the change back.
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.membership import Outcome, VoterRequests
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K853-01",),
    scenarios=(),
    unit="tests/mutants/unknown/test_minority.py::test_a_change_of_voters_is_answered_by_a_majority",
    kind=Kind.MINORITY,
)


def apply() -> None:
    async def appended(self: VoterRequests, voters: VoterSet) -> Outcome:
        self._raft.change_voters(voters)
        return Error.NONE, None

    VoterRequests._commit = appended  # type: ignore[method-assign]
