"""The double roll, there and back, and the mixed clusters on its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.conditions import BrokerActive, BrokerFenced, IsrIs, LeaderIs, WorkloadAcks
from harness.plan.injects import InjectCut, InjectIsolate, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.steps import Heal, Hold, Roll, Step
from suites.building import (
    BROKER_IDS,
    LIVELY_MS,
    answers,
    around_zookeeper,
    ask,
    cast,
    closing,
    compose,
    must,
    never,
    node,
    opening,
    pace,
    topic,
)
from suites.kip_343.story import kip_343
from suites.story import Story, TargetFacts


def forward(story: Story, target: TargetFacts, seed: int) -> Plan:
    return _rolled(story, target, seed, target.levels)


def back(story: Story, target: TargetFacts, seed: int) -> Plan:
    return _rolled(story, target, seed, tuple(reversed(target.levels)))


def _rolled(story: Story, target: TargetFacts, seed: int, levels: Sequence[str]) -> Plan:
    """One broker at a time, the controller last, from level to level; work goes on, and nothing is lost."""
    leader, follower, controller = cast(story, seed)
    requirements = ("K343-55", "K343-56")
    steps = [*opening(leader)]
    for level, requirement in zip(levels[1:], requirements, strict=False):
        for broker in (follower, leader, controller):
            steps += [
                Roll(as_=f"{level}-{broker}", node=broker, level=level),
                IsrIs(
                    as_=f"{level}-{broker}-in-sync",
                    partition="t-0",
                    has=broker,
                    within_ms=LIVELY_MS,
                    expect=must(requirement),
                ),
            ]
        steps.append(WorkloadAcks(as_=f"{level}-goes-on", more=20, within_ms=LIVELY_MS, expect=must(requirement)))
    return compose(
        story,
        target,
        seed,
        timing=pace(target, lag_ms=3000),
        topology=around_zookeeper(controller=controller, levels={node(each): levels[0] for each in BROKER_IDS}),
        topics=[topic([leader, follower, controller])],
        steps=[*steps, *closing()],
        coverage=[
            StepDone(step=f"{levels[-1]}-{controller}-in-sync"),
            Acknowledged(by="p1", acks="all", after=f"{levels[-1]}-{controller}.ended"),
        ],
    )


def legacy_leader(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The leader is of before, the others are not: each is treated by what it registered as."""
    leader, raised, controller = cast(story, seed)
    timing = pace(target)
    after = After(event="away.proven", plus_ms=timing.fence_ms)
    steps = [
        *opening(leader),
        InjectIsolate(as_="away", nodes=leader, from_=controller),
        IsrIs(as_="shrunk", partition="t-0", lacks=controller, within_ms=LIVELY_MS, expect=must("K343-58")),
        Hold(as_="over", after="away.proven", ms=timing.fence_ms),
        BrokerFenced(as_="inactive", node=leader, within_ms=300, expect=never("K343-62")),
        LeaderIs(as_="deposed", partition="t-0", is_not=leader, within_ms=300, expect=never("K343-62")),
        *ask("legacy", leader, answers("K343-57", "served"), after=after),
        Heal(as_="mend", fault="away"),
        IsrIs(as_="rejoined", partition="t-0", has=controller, within_ms=LIVELY_MS, expect=must("ISR-06")),
        InjectCut(as_="silent", from_=raised, to=controller),
        BrokerFenced(as_="given-up", node=raised, within_ms=LIVELY_MS, expect=must("K343-20")),
        BrokerFenced(as_="fenced", node=raised, by="itself", within_ms=LIVELY_MS, expect=must("K343-16")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="heard", fault="silent"),
        BrokerActive(as_="active", node=raised, within_ms=LIVELY_MS, expect=must("K343-21")),
        IsrIs(as_="in-sync", partition="t-0", has=raised, within_ms=LIVELY_MS, expect=must("D343-19")),
        *closing(),
    ]
    return _mixed(
        story,
        target,
        seed,
        {leader: "base"},
        steps,
        [FaultProven(fault="away"), FaultProven(fault="silent"), StepDone(step="legacy-produce")],
    )


def legacy_controller(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The controller is of before: it hears the others' heartbeats and ISR changes all the same."""
    leader, follower, controller = cast(story, seed)
    steps = [
        *opening(leader),
        InjectStall(as_="slow", from_=follower, to=leader),
        IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=LIVELY_MS, expect=must("D343-19")),
        BrokerFenced(as_="inactive", node=leader, within_ms=500, expect=never("D343-19")),
        Heal(as_="fast", fault="slow"),
        IsrIs(as_="rejoined", partition="t-0", has=follower, within_ms=LIVELY_MS, expect=must("D343-19")),
        InjectCut(as_="silent", from_=follower, to=controller),
        BrokerFenced(as_="given-up", node=follower, within_ms=LIVELY_MS, expect=must("K343-20")),
        BrokerFenced(as_="fenced", node=follower, by="itself", within_ms=LIVELY_MS, expect=must("K343-16")),
        Heal(as_="heard", fault="silent"),
        BrokerActive(as_="active", node=follower, within_ms=LIVELY_MS, expect=must("K343-21")),
        *closing(),
    ]
    return _mixed(
        story,
        target,
        seed,
        {controller: "base"},
        steps,
        [FaultProven(fault="slow"), FaultProven(fault="silent"), StepDone(step="active")],
    )


def _mixed(
    story: Story,
    target: TargetFacts,
    seed: int,
    levels: Mapping[str, str],
    steps: list[Step],
    coverage: list[FaultProven | StepDone],
) -> Plan:
    """The others are at the level of the story."""
    brokers = cast(story, seed)
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=around_zookeeper(controller=brokers[-1], levels=levels),
        topics=[topic(brokers)],
        steps=steps,
        coverage=[*coverage, Acknowledged(by="p1", acks="all", after=f"{coverage[-1].step}.ended")]
        if isinstance(coverage[-1], StepDone)
        else coverage,
    )


STORIES = (
    kip_343(
        "double-roll",
        "Rolled from level to level under load, a cluster loses nothing",
        forward,
        32,
        "K343-55",
        "K343-56",
        "D343-18",
        levels=("base",),
    ),
    kip_343(
        "double-roll-back",
        "Rolled back from level to level under load, a cluster loses nothing",
        back,
        32,
        "K343-55",
        "K343-56",
        "D343-18",
        levels=("base",),
    ),
    kip_343(
        "mixed-cluster-legacy-leader",
        "In a mixed cluster a legacy leader is never fenced, and a raised broker is",
        legacy_leader,
        18,
        "K343-59",
        "K343-61",
        "DINT-02",
        needs={Capability.LINKS},
    ),
    kip_343(
        "mixed-cluster-legacy-controller",
        "In a mixed cluster a controller at the level of before hears heartbeats and ISR changes",
        legacy_controller,
        16,
        "K343-59",
        "K343-61",
        needs={Capability.LINKS},
    ),
)
