"""A follower that applies the answer to a request of an earlier term (KAFKA-18991; against HW-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.fetcher import Following
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-18991",
    designs=WITH_CONTROLLER,
    rules=("HW-03", "HW-04", "ACK-01"),
    scenarios=("earlier-answer", "isolated-leader", "truncated-and-overwritten"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    Following.is_current = property(_always)  # type: ignore[method-assign, assignment]


def _always(self: Following) -> bool:
    return True
