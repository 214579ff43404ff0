"""A leader that adds a voter again which it removed before, by what it fetched then (against KIP-853, AddRaftVoter).

The controller may be gone for long; the larger quorum waits for it at once (K853-02).
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K853-02",),
    scenarios=(),
    unit="tests/mutants/unknown/test_second_time.py::test_a_controller_that_was_a_voter_fetches_before_it_is_one_again",
    kind=Kind.SECOND_TIME,
)


def apply() -> None:
    honest = RaftCore.caught_up

    def whenever(self: RaftCore, node_id: int, end_offset: int, now: float) -> bool:
        progress = None if self.leadership is None else self.leadership.observers.get(node_id)
        return honest(self, node_id, end_offset, now if progress is None else progress.heard_at)

    RaftCore.caught_up = whenever  # type: ignore[method-assign]
