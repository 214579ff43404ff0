"""A broker that counts its lease from the answer to its heartbeat, not from the heartbeat (against D631-01).

With a slow answer it serves after the controller has given its id away.
"""

from __future__ import annotations

from dataclasses import replace

from fencepost.cluster_impl.designs.quorum.broker.lifecycle import HeartbeatAnswer, LeaseHeartbeat, LeaseLifecycle
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-01", "D631-02"),
    scenarios=(),
    unit="tests/mutants/unknown/test_timing.py::test_a_lease_runs_from_the_heartbeat_that_asked_for_it",
    kind=Kind.TIMING,
)


def apply() -> None:
    honest = LeaseLifecycle._adopt

    def adopt(self: LeaseLifecycle, heartbeat: LeaseHeartbeat, answer: HeartbeatAnswer, now: float) -> None:
        honest(self, replace(heartbeat, sent_at=now), answer, now)

    LeaseLifecycle._adopt = adopt  # type: ignore[method-assign]
