"""A leader that removes a voter only while that one fetches (against KIP-853, RemoveRaftVoter; K853-03).

A controller that is lost for good counts towards the majority for ever.
"""

from __future__ import annotations

import time

from fencepost.cluster_impl.designs.quorum.raft.core import VoterChangeRefused
from fencepost.cluster_impl.designs.quorum.raft.membership import Outcome, VoterRequests
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K853-03", "K631-06"),
    scenarios=(),
    unit="tests/mutants/unknown/test_away.py::test_a_voter_that_is_gone_can_be_removed",
    kind=Kind.AWAY,
)


def apply() -> None:
    honest = VoterRequests._remove

    async def seen(self: VoterRequests, node_id: int) -> Outcome:
        core = self._raft._driver.running
        progress = None if core.leadership is None else core.leadership.followers.get(node_id)
        if progress is not None and time.monotonic() - progress.heard_at > core.settings.fetch_timeout:
            raise VoterChangeRefused(f"controller {node_id} does not fetch")
        return await honest(self, node_id)

    VoterRequests._remove = seen  # type: ignore[method-assign]
