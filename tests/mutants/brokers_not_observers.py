"""A controller that leaves brokers out of the observers of DescribeQuorum (against D631-33)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft import describe
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-33", "MDL-21"),
    scenarios=("metadata-format-raised",),
    unit=(
        "tests/cluster_impl/designs/quorum/raft/test_describe.py::"
        "test_brokers_that_fetch_are_observers_until_they_are_silent"
    ),
)


def apply() -> None:
    observers = describe._observers

    def without_brokers(core: RaftCore, clock: describe._Clock) -> list[describe.ReplicaState]:
        brokers = core.leadership.brokers if core.leadership else {}
        return [each for each in observers(core, clock) if each.replica_id not in brokers]

    vars(describe)["_observers"] = without_brokers
