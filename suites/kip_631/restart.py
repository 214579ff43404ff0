"""A broker, and the whole cluster, restart after kill -9."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LEASE_MS = 20_000
"""Long enough for a process to restart inside the lease of its predecessor, also on a busy machine."""
WAITED_OUT_MS = 6000
"""The lease on a target on which the predecessor's has to run out first (AK-02), before the timeout factor applies."""


@v.scenario("restart-inside-the-lease", "A broker killed with kill -9 reclaims its id at once", seconds=9)
def inside_the_lease(draft: v.Draft) -> v.Plan:
    leader = draft.leader
    draft = draft.timed(lease_ms=WAITED_OUT_MS if draft.target.differs("AK-02") else LEASE_MS)
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        v.inject("kill", v.KillParameters(nodes=leader, back="running")),
        v.Heal(as_="restart", fault="kill"),
        *_reclaimed(draft.target, leader, draft.timing),
        v.BrokerActive(as_="active", node=leader, expect=v.must("K631-41")),
        v.HeartbeatProbe(
            as_="predecessor",
            node="active-controller",
            broker=leader,
            broker_epoch="$epoch",
            expect=v.answers("D631-19", "error:77"),
            unchanged=("brokers",),
        ),
    ]
    return draft.plan(steps, "predecessor", v.acknowledged("restart.ended"))


def _reclaimed(target: v.TargetFacts, broker: str, timing: v.Timing) -> list[v.Step]:
    """Expect that the broker reclaims its id inside the predecessor's lease; with AK-02, only after its end."""
    inside_ms = timing.lease_ms * 2 // 3

    def above(name: str, within_ms: int, expect: v.Expect) -> v.BrokerEpochAbove:
        return v.BrokerEpochAbove(as_=name, node=broker, value="$epoch", within_ms=within_ms, expect=expect)

    if not target.differs("AK-02"):
        return [above("reclaimed", inside_ms, v.must("K631-41"))]
    waits = v.never("K631-41").model_copy(update={"difference": "AK-02"})
    return [above("waits", inside_ms, waits), above("reclaimed", v.LIVENESS_TIMEOUT_MS, v.must("K631-41"))]


@v.scenario(
    "everything-killed",
    "A cluster whose nodes are all killed at once restarts with everything that was acknowledged",
    seconds=11,
    dialects=v.ALL_DESIGNS,
)
def everything(draft: v.Draft) -> v.Plan:
    """All nodes are killed. With LF-01 the first replica that restarts may truncate its log, and lead."""
    target = draft.target
    steps: list[v.Step] = [
        v.inject("kill", v.KillParameters(nodes=(v.metadata_store(target), "brokers"))),
        v.Heal(as_="restart", fault="kill"),
    ]
    return draft.plan(
        steps,
        v.acknowledged(before="kill.injected"),
        v.acknowledged("restart.ended"),
        may_lose=True,
        afterwards=[
            v.produced_at(
                "kept", "leader:t-0", 1, v.serves(target.rule("K631-15", "INT-06", "LD-26"), "LD-44"), timeout_ms=5000
            )
        ],
    )
