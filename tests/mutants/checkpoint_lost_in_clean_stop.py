"""A broker that leaves an empty checkpoint of high watermarks when it stops (KAFKA-858; against DISK-01)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.store import ReplicaStore
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-858",
    designs=ALL,
    rules=("DIR-05", "HW-06"),
    scenarios=("below-min-isr", "stopped-follower", "rolling-restart"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    honest = ReplicaStore.close

    def losing(self: ReplicaStore) -> None:
        honest(self)
        for directory in self._dirs:
            directory.high_watermarks.write({})

    ReplicaStore.close = losing  # type: ignore[method-assign]
