"""A follower that serves clients although its leader does not yet: up to what that leader alone takes for committed."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition


def apply() -> None:
    def note_leader(self: Partition, *, serves_clients: bool) -> None:
        self._leader_serves_clients = True

    Partition.note_leader = note_leader  # type: ignore[method-assign]
