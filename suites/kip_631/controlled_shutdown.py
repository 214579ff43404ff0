"""A broker that wants to stop hands its leaderships over, stops to serve what moved, and is let go."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631.metadata_log import log_holds, rules_hold

LEASE_MS = 20_000
"""A broker that no controller lets go waits for so long; one that is let go needs less than a tenth."""
LATENCY_MS, KNOWS_MS = 1500, 2000
"""How late requests and answers between controllers are, so that each step of a shutdown takes them twice that; and
within what a broker learns of a leader that they have named."""


@v.scenario(
    "controlled-shutdown",
    "A broker that is shut down hands its leaderships over and is let go at once",
    seconds=20,
    needs={v.Capability.TERMINATE},
    dialects=frozenset({v.Dialect.KIP_631}),
)
def build(draft: v.Draft) -> v.Plan:
    """First at once, then with controllers that are slow among themselves.

    The second broker learns from the active one that another broker leads, and runs on, since that one has to hear from
    a majority before it lets the broker go (D631-03).
    """
    leader, successor, _ = draft.roles
    draft = draft.timed(lease_ms=LEASE_MS, fetch_ms=LEASE_MS, request_ms=LEASE_MS)
    steps: list[v.Step] = [
        v.Shutdown(as_="stop", nodes=leader, until="asked"),
        v.LeaderIs(as_="handed-over", partition="t-0", is_=successor, expect=v.must("K631-36", "K631-35")),
        v.NodeExited(as_="let-go", node=leader, within_ms=draft.timing.lease_ms // 2, expect=v.must("K631-37")),
        log_holds(
            "deleted",
            {"record": "DeleteBrokerRecord", "id": v.node_id(leader)},
            {"log[].id": [v.node_id(leader)]},
            "K631-67",
        ),
        *rules_hold("handed-over", "leader-epoch-grows", "left-every-isr"),
        v.Start(as_="start", nodes=leader),
        v.IsrIs(as_="back", partition="t-0", has=leader, expect=v.must("ISR-06")),
        v.inject("far", v.SlowParameters(from_="controllers", to="active-controller", latency_ms=LATENCY_MS)),
        v.Shutdown(as_="stop-far", nodes=successor, until="asked"),
        v.LeaderIs(as_="handed-back", partition="t-0", is_not=successor, expect=v.must("K631-36", "K631-35")),
        v.Hold(as_="knows", after="handed-back.ended", ms=KNOWS_MS),
        v.produced_at(
            "serves-on",
            successor,
            1,
            v.never_serves("LEAD-02"),
            timeout_ms=500,
            repeat=5,
            every_ms=100,
            after="knows.ended",
        ),
        v.NodeExited(as_="let-go-far", node=successor, within_ms=draft.timing.lease_ms, expect=v.must("K631-37")),
        v.Heal(as_="near", fault="far"),
        v.Start(as_="start-far", nodes=successor),
    ]
    return draft.plan(steps, "let-go", v.acknowledged("handed-back.ended"))
