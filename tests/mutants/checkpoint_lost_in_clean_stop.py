"""A broker that leaves an empty checkpoint of high watermarks when it stops (KAFKA-858; against DISK-01)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.store import ReplicaStore


def apply() -> None:
    honest = ReplicaStore.close

    def losing(self: ReplicaStore) -> None:
        honest(self)
        for directory in self._dirs:
            directory.high_watermarks.write({})

    ReplicaStore.close = losing  # type: ignore[method-assign]
