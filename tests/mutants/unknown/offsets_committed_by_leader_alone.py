"""A coordinator that answers a commit once it is in its own log (against OffsetCommit, acks=all; GRP-01).

Cut off from its followers it acknowledges offsets that the next coordinator does not have.
"""

from __future__ import annotations

from fencepost.cluster_impl.api.groups import coordinator
from fencepost.cluster_impl.replication.replica import ProducedRecords, Replica
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("GRP-01", "CRD-03"),
    scenarios=(),
    unit="tests/mutants/unknown/test_minority.py::test_a_coordinator_without_its_followers_commits_no_offset",
    kind=Kind.MINORITY,
)


def apply() -> None:
    async def at_once(replica: Replica, appended: ProducedRecords, timeout: float) -> Error:
        return Error.NONE

    coordinator._committed = at_once
