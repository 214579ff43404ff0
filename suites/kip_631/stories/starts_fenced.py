"""Story 1: a broker that just started answers no client before the controller said that it may."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import BrokerActive, MetadataFrom, TopicCreatedThrough
from harness.plan.model import FaultProven, Plan, StepDone
from harness.plan.probes import MetadataProbe
from harness.plan.steps import Heal, InjectCut, Start
from suites.building import (
    LIVELY_MS,
    answers,
    ask,
    cast,
    closing,
    compose,
    must,
    never_serves,
    opening,
    pace,
    six,
    topic,
)
from suites.story import Story, TargetFacts


def build(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The newcomer cannot reach a controller at first, so its first state can be looked at for as long as we like."""
    leader, follower, newcomer = cast(story, seed)
    steps = [
        *opening(leader),
        InjectCut(as_="cut", from_=newcomer, to="controllers"),
        Start(as_="start", nodes=newcomer, until="running"),
        *ask("unregistered", newcomer, never_serves("K631-33"), repeat=4),
        MetadataFrom(as_="unseen", node=leader, lacks=newcomer, within_ms=LIVELY_MS, expect=must("K631-34")),
        Heal(as_="mend", fault="cut"),
        BrokerActive(as_="active", node=newcomer, within_ms=LIVELY_MS, expect=must("K631-34")),
        MetadataProbe(as_="registered", node=newcomer, topic="t", expect=answers("K631-34", "served")),
        TopicCreatedThrough(as_="useful", node=newcomer, within_ms=LIVELY_MS, expect=must("LIVE-01")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=six(held_back=[newcomer]),
        topics=[topic([leader, follower])],
        steps=steps,
        coverage=[FaultProven(fault="cut"), StepDone(step="unregistered-produce"), StepDone(step="registered")],
    )


STORIES = (
    Story(
        slug="starts-fenced",
        title="A broker starts fenced and serves only after the controller said so",
        requirements=("K631-26", "K631-33", "K631-34", "K631-42", "D631-09", "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.LINKS}),
        seconds=9,
        build=build,
    ),
)
