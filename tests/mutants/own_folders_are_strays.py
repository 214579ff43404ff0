"""A broker that removes at its start the folders that it should keep (KAFKA-13127; against DIR-01)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.control_plane import PartitionAssignment
from fencepost.cluster_impl.replication.store import ReplicaStore
from fencepost.cluster_impl.storage.directory import LogDir
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-13127",
    designs=(QUORUM,),
    rules=("DIR-05",),
    scenarios=("stopped-follower", "rolling-restart"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    honest = ReplicaStore._home

    def inverted(self: ReplicaStore, to: PartitionAssignment) -> LogDir | None:
        for directory in self._dirs.holding(to.topic, to.partition):
            if directory.topic_id(to.topic, to.partition) == to.topic_id:
                directory.delete(to.topic, to.partition)
        return honest(self, to)

    ReplicaStore._home = inverted  # type: ignore[method-assign]
