"""A follower that applies the answer to a request of an earlier term (KAFKA-18991; against HW-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.fetcher import Following


def apply() -> None:
    Following.is_current = property(_always)  # type: ignore[method-assign, assignment]


def _always(self: Following) -> bool:
    return True
