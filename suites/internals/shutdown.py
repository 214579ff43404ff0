"""Controlled shutdown of every broker in turn, without an error for producers."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

RECORDS = 150
"""Records that are produced while each broker shuts down; each is waited for."""
GAVE_UP = "leaves without controlled shutdown|all the controlled shutdown attempts failed"
"""The line of a broker that ends although the controller did not let it go."""
BACKOFF_MS = 2000


@v.internals_scenario(
    "controlled-shutdown-in-turn", "An idempotent producer sees no error while brokers shut down in turn", seconds=22
)
@v.internals_scenario(
    "controlled-shutdown-in-turn-at-base",
    "Without heartbeats too an idempotent producer sees no error while brokers shut down in turn",
    seconds=22,
    levels=("base",),
)
def build(draft: v.Draft) -> v.Plan:
    """The leader shuts down first, so that its leadership moves; at the end it leads again."""
    target = draft.target
    leader, follower, controller = draft.roles
    steps: list[v.Step] = []
    stops = target.has_kip_343 and draft.scenario.level(target) != "base"
    for broker in (leader, follower, controller):
        steps += _shut_down(broker, 0 if target.has_kip_343 else None, *(("K343-12", "K343-37") if stops else ()))
    steps += [
        v.elect_preferred("prefer", "t-0"),
        v.LeaderIs(as_="leads-again", partition="t-0", is_=leader, expect=v.must("INT-39")),
    ]
    return draft.timed(lag_ms=3000).plan(
        steps, *(f"back-{broker}" for broker in (leader, follower, controller)), v.acknowledged("leads-again.ended")
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
            expect=v.serves("DINT-25", *serves),
        ),
        v.NodeExited(as_=f"ended-{broker}", node=broker, code=code, expect=v.must("DINT-24")),
        v.Logged(
            as_=f"without-leave-{broker}",
            node=broker,
            says=GAVE_UP,
            after=v.After(event=f"stop-{broker}.begun"),
            within_ms=200,
            expect=v.never("DINT-24"),
        ),
        v.LeaderIs(as_=f"moved-{broker}", partition="t-0", is_not=broker, expect=v.must("INT-40")),
        v.Start(as_=f"start-{broker}", nodes=broker),
        v.IsrIs(as_=f"back-{broker}", partition="t-0", has=broker, expect=v.must("ISR-06")),
    ]


@v.internals_scenario(
    "controlled-shutdown-held-up",
    "A broker that is shutting down, and cannot end yet, is notified of the partitions that it leads no more",
    seconds=20,
)
def held_up(draft: v.Draft) -> v.Plan:
    """A broker cannot end at once, since one of its partitions has no other leader. It leads the other one no more.

    The controller has to tell it that, although it is shutting down (KAFKA-7482).
    """
    leader, gone, controller = draft.roles
    steps: list[v.Step] = [
        v.inject("kill", v.KillParameters(nodes=gone)),
        v.IsrIs(as_="alone", partition="s-0", is_=leader, expect=v.must("INT-28")),
        v.Shutdown(as_="stop", nodes=leader, until="asked"),
        v.LeaderIs(as_="moved", partition="t-0", is_=controller, expect=v.must("INT-40")),
        v.learns_leader("known", leader, "t-0", controller, v.must("INT-22")),
        v.produced_at("leads-on", leader, 1, v.never_serves("INT-22"), repeat=3, every_ms=200, timeout_ms=500),
        v.NodeExited(as_="ended", node=leader, expect=v.must("DINT-24")),
        v.Start(as_="start", nodes=leader),
    ]
    return draft.timed(lag_ms=3000).plan(
        steps,
        "leads-on",
        v.acknowledged("moved.ended"),
        settings=v.NodeSettings(broker={"controlled.shutdown.retry.backoff.ms": str(BACKOFF_MS)}),
        topics=[v.topic([leader, controller, gone], min_isr=1), v.topic([leader, gone], name="s", min_isr=1)],
    )
