"""Story 9: followers that do not keep up leave the ISR; below min.insync.replicas nothing is promised."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.conditions import IsrIs, WorkloadAcks
from harness.plan.injects import InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import ProduceProbe
from harness.plan.steps import Heal
from suites.building import LIVELY_MS, adopts, answers, cast, closing, compose, must, opening, pace, topic
from suites.story import EVERYWHERE, Story, TargetFacts


def build(story: Story, target: TargetFacts, seed: int) -> Plan:
    leader, first, second = cast(story, seed)
    steps = [
        *opening(leader),
        InjectStall(as_="stall-first", from_=first, to=leader),
        IsrIs(as_="first-leaves", partition="t-0", is_=(leader, second), within_ms=LIVELY_MS, expect=must("ISR-05")),
        WorkloadAcks(as_="two-are-enough", more=20, within_ms=LIVELY_MS, expect=must("ISR-05")),
        InjectStall(as_="stall-second", from_=second, to=leader),
        IsrIs(as_="second-leaves", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("ISR-05")),
        adopts("adopted", leader, "t-0", since="stall-second.injected"),
        ProduceProbe(
            as_="too-few",
            node=leader,
            topic="t",
            acks="all",
            repeat=3,
            after=After(event="adopted.ended"),
            expect=answers("ISR-08", "error:[19, 20]"),
        ),
        Heal(as_="mend-second", fault="stall-second"),
        IsrIs(as_="second-returns", partition="t-0", has=second, within_ms=LIVELY_MS, expect=must("ISR-06")),
        WorkloadAcks(as_="two-again", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="mend-first", fault="stall-first"),
        IsrIs(
            as_="first-returns",
            partition="t-0",
            is_=(leader, first, second),
            within_ms=LIVELY_MS,
            expect=must("ISR-06"),
        ),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, first, second])],
        steps=steps,
        coverage=[
            FaultProven(fault="stall-first"),
            FaultProven(fault="stall-second"),
            StepDone(step="too-few"),
            Acknowledged(by="p1", acks="all", after="first-leaves.ended", before="stall-second.injected"),
        ],
    )


STORIES = (
    Story(
        slug="slow-follower",
        title="A follower whose link stalls leaves the ISR and returns; below min.insync.replicas produce is refused",
        requirements=(
            "ISR-05",
            "ISR-06",
            "ISR-08",
            "K631-65",
            "D631-17",
            "D631-18",
            "K343-33",
            "K343-52",
            "INT-55",
            "DINT-08",
            "LD-23",
            "LD-70",
            "LD-71",
            "DLD-08",
            "DLD-23",
            "LIVE-01",
            "LIVE-03",
        ),
        needs=frozenset({Capability.LINKS}),
        seconds=12,
        build=build,
        dialects=EVERYWHERE,
    ),
)
