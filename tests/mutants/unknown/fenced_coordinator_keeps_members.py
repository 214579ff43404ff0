"""A coordinator that goes on with its members while it is fenced (against KIP-631, Fencing).

It answers JoinGroup, SyncGroup and Heartbeat, so its members read on beside those that its successor gave the same
partitions (GRP-02).
"""

from __future__ import annotations

from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, ZK, Defect, Kind
from tests.mutants.unknown.ungated import serve_always

DEFECT = Defect(
    __name__,
    designs=(QUORUM, ZK),
    rules=("K631-32", "GRP-02"),
    scenarios=(),
    unit="tests/mutants/unknown/test_minority.py::test_a_fenced_coordinator_answers_no_member",
    kind=Kind.MINORITY,
)


def apply() -> None:
    serve_always(m.JoinGroupRequest, m.SyncGroupRequest, m.HeartbeatRequest)
