"""A restarted controller that goes on in the epoch that it led (KAFKA-10527; against KIP-595, Quorum State)."""

from __future__ import annotations

from random import Random

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogShape
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.designs.quorum.raft.roles import VoterSettings
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterHistory
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-10527",
    designs=(QUORUM,),
    rules=("CTRL-01", "K631-15"),
    scenarios=("controllers-lose-power", "active-controller-killed", "everything-killed"),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    honest = RaftCore.__init__

    def unchanged(
        self: RaftCore,
        settings: VoterSettings,
        state: QuorumState,
        log: LogShape,
        random: Random,
        now: float,
        snapshots: tuple[EpochEnd, ...] = (),
        voters: VoterHistory | None = None,
    ) -> None:
        honest(self, settings, state, log, random, now, snapshots, voters)
        if state.leader_id == settings.node_id:
            self._become_leader(now)

    RaftCore.__init__ = unchanged  # type: ignore[method-assign, assignment]
