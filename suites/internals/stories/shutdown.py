"""Controlled shutdown of every broker in turn, without an error for those who produce."""

from __future__ import annotations

from harness.plan.conditions import IsrIs, LeaderIs, NodeExited
from harness.plan.model import Acknowledged, Plan, StepDone
from harness.plan.steps import Produce, Shutdown, Start, Step
from suites.building import LIVELY_MS, answers, asks_the_controller, cast, closing, compose, must, opening, pace, topic
from suites.internals.story import internals
from suites.story import Story, TargetFacts
from suites.znodes import elect_preferred

RECORDS = 150
"""While each broker goes; each is waited for."""


def build(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The leader goes first, so that its leadership moves; at the end it leads again."""
    leader, follower, controller = cast(story, seed)
    steps = [*opening(leader)]
    for broker in (leader, follower, controller):
        steps += _shut_down(broker, 0 if asks_the_controller(target) else None)
    steps += [
        elect_preferred("prefer", "t-0"),
        LeaderIs(as_="leads-again", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("INT-39")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, lag_ms=3000),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            *(StepDone(step=f"back-{broker}") for broker in (leader, follower, controller)),
            Acknowledged(by="p1", acks="all", after="leads-again.ended"),
        ],
    )


def _shut_down(broker: str, code: int | None) -> list[Step]:
    """`code` is that of an orderly end; a JVM ends by the signal whatever it did before."""
    return [
        Shutdown(as_=f"stop-{broker}", nodes=broker, until="asked"),
        Produce(
            as_=f"while-{broker}",
            topic="t",
            records=RECORDS,
            idempotent=True,
            timeout_ms=20_000,
            expect=answers("DINT-25", "served"),
        ),
        NodeExited(as_=f"ended-{broker}", node=broker, code=code, within_ms=LIVELY_MS, expect=must("DINT-24")),
        LeaderIs(as_=f"moved-{broker}", partition="t-0", is_not=broker, within_ms=LIVELY_MS, expect=must("INT-40")),
        Start(as_=f"start-{broker}", nodes=broker),
        IsrIs(as_=f"back-{broker}", partition="t-0", has=broker, within_ms=LIVELY_MS, expect=must("ISR-06")),
    ]


STORIES = (
    internals(
        "controlled-shutdown-in-turn",
        "Brokers shut down in turn, and an idempotent producer sees no error",
        build,
        22,
        "K343-12",
        "K343-13",
        "K343-14",
        "K343-31",
        "K343-37",
        "INT-43",
    ),
    internals(
        "controlled-shutdown-in-turn-at-base",
        "Without heartbeats too brokers shut down in turn, and an idempotent producer sees no error",
        build,
        22,
        "INT-43",
        levels=("base",),
    ),
)
