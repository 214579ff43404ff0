"""Controlled shutdown of every broker in turn, without an error for producers."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

RECORDS = 150
"""Records that are produced while each broker shuts down; each is waited for."""


def build(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """The leader shuts down first, so that its leadership moves; at the end it leads again."""
    leader, follower, controller = v.replica_roles(scenario, seed)
    steps = [*v.setup(leader)]
    stops = target.has_kip_343 and scenario.level(target) != "base"
    for broker in (leader, follower, controller):
        steps += _shut_down(broker, 0 if target.has_kip_343 else None, *(("K343-12", "K343-37") if stops else ()))
    steps += [
        v.elect_preferred("prefer", "t-0"),
        v.LeaderIs(
            as_="leads-again", partition="t-0", is_=leader, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.must("INT-39")
        ),
        *v.teardown(),
    ]
    return v.build_plan(
        scenario,
        target,
        seed,
        timing=v.scaled_timing(target, lag_ms=3000),
        topics=[v.topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            *(v.StepDone(step=f"back-{broker}") for broker in (leader, follower, controller)),
            v.Acknowledged(by="p1", acks="all", after="leads-again.ended"),
        ],
    )


def _shut_down(broker: str, code: int | None, *serves: str) -> list[v.Step]:
    """Shut a broker down and restart it. `code` is its exit code, None for a JVM, which ends by the signal.

    `serves` are further requirements by which brokers serve on meanwhile.
    """
    return [
        v.Shutdown(as_=f"stop-{broker}", nodes=broker, until="asked"),
        v.Produce(
            as_=f"while-{broker}",
            topic="t",
            records=RECORDS,
            idempotent=True,
            timeout_ms=20_000,
            expect=v.answers("DINT-25", "served", *serves),
        ),
        v.NodeExited(
            as_=f"ended-{broker}", node=broker, code=code, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.must("DINT-24")
        ),
        v.LeaderIs(
            as_=f"moved-{broker}",
            partition="t-0",
            is_not=broker,
            within_ms=v.LIVENESS_TIMEOUT_MS,
            expect=v.must("INT-40"),
        ),
        v.Start(as_=f"start-{broker}", nodes=broker),
        v.IsrIs(
            as_=f"back-{broker}", partition="t-0", has=broker, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.must("ISR-06")
        ),
    ]


SCENARIOS = (
    v.internals_scenario(
        "controlled-shutdown-in-turn",
        "An idempotent producer sees no error while brokers shut down in turn",
        build,
        22,
        "K343-12",
        "K343-37",
    ),
    v.internals_scenario(
        "controlled-shutdown-in-turn-at-base",
        "Without heartbeats too an idempotent producer sees no error while brokers shut down in turn",
        build,
        22,
        levels=("base",),
    ),
)
