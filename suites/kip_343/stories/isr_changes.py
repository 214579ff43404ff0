"""ISR changes by way of the controller: asked for, and asked for again when the answer was lost."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import BrokerActive, IsrIs, LeaderEpochAbove, WorkloadAcks
from harness.plan.injects import InjectKill, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.steps import Bind, Heal
from suites.building import LIVELY_MS, cast, closing, compose, must, never, opening, pace, topic
from suites.kip_343.story import kip_343
from suites.story import Story, TargetFacts

LEASE_MS = 8000
"""So long that a leader which hears no answer is neither given up nor fenced while the story is told."""
SESSION_MS = 1500


def reply_lost(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The change is made, its answer is lost, and the leader asks again while the state has changed once more.

    The follower that left is bounced meanwhile, so the partition is written by the controller. The retry finds that,
    and does not write what it asked for over it.
    """
    leader, slow, controller = cast(story, seed)
    timing = pace(target, lease_ms=LEASE_MS, session_ms=SESSION_MS)
    steps = [
        *opening(leader),
        InjectStall(as_="slow", from_=slow, to=leader),
        InjectStall(as_="unanswered", from_=leader, to=controller, streams="replies"),
        IsrIs(as_="changed", partition="t-0", lacks=slow, within_ms=LIVELY_MS, expect=must("K343-33")),
        Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        InjectKill(as_="bounce", nodes=slow, back="running"),
        LeaderEpochAbove(
            as_="written-again", partition="t-0", value="$leader-epoch", within_ms=LIVELY_MS, expect=must("DINT-08")
        ),
        Heal(as_="back", fault="bounce"),
        BrokerActive(as_="active", node=slow, within_ms=LIVELY_MS, expect=must("K343-32")),
        Heal(as_="answered", fault="unanswered"),
        IsrIs(as_="overwritten", partition="t-0", has=slow, within_ms=1500, expect=never("D343-08")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="fast", fault="slow"),
        IsrIs(as_="rejoined", partition="t-0", has=slow, within_ms=LIVELY_MS, expect=must("D343-09")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, slow, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="slow"),
            FaultProven(fault="unanswered"),
            FaultProven(fault="bounce"),
            StepDone(step="rejoined"),
            Acknowledged(by="p1", acks="all", after="answered.ended"),
        ],
    )


STORIES = (
    kip_343(
        "isr-change-reply-lost",
        "An ISR change whose answer was lost is asked for again, and overwrites nothing newer",
        reply_lost,
        16,
        "K343-52",
        "D343-08",
        "D343-09",
        needs={Capability.LINKS, Capability.KILL},
    ),
)
