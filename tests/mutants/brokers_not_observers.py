"""A controller that leaves brokers out of the observers of DescribeQuorum (against D631-33)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft import describe
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore


def apply() -> None:
    observers = describe._observers

    def without_brokers(core: RaftCore, clock: describe._Clock) -> list[describe.ReplicaState]:
        brokers = core.leadership.brokers if core.leadership else {}
        return [each for each in observers(core, clock) if each.replica_id not in brokers]

    vars(describe)["_observers"] = without_brokers
