"""A leader that compares the ISR with the version of its election for ever (KAFKA-2729; against ISR-05)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.in_sync import InSyncReplicas
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-2729",
    designs=(ZK,),
    rules=("ISR-05", "ISR-06"),
    scenarios=("slow-follower-at-base", "slow-follower", "links-deaf-follower"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    honest = InSyncReplicas.adopt

    def frozen(self: InSyncReplicas, isr: frozenset[int], leader_epoch: int, version: int) -> None:
        same_term = leader_epoch == self.leader_epoch and self.version >= 0
        honest(self, isr, leader_epoch, self.version if same_term else version)

    InSyncReplicas.adopt = frozen  # type: ignore[method-assign]
