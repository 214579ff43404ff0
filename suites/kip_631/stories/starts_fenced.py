"""Story 1: a broker that just started answers no client before the controller said that it may."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import ExpectOutcome
from harness.plan.conditions import BrokerActive, MetadataFrom, TopicCreatedThrough
from harness.plan.injects import InjectCut
from harness.plan.model import FaultProven, Plan, StepDone
from harness.plan.probes import MetadataProbe
from harness.plan.steps import Heal, Start
from suites.building import (
    LIVELY_MS,
    answers,
    ask,
    asks_the_controller,
    cast,
    closing,
    cluster,
    compose,
    must,
    never_serves,
    opening,
    pace,
    topic,
)
from suites.story import EVERYWHERE, Story, TargetFacts


def build(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The newcomer cannot reach a controller at first, so its first state can be looked at for as long as we like."""
    leader, follower, newcomer = cast(story, seed)
    grants = target.rule("K631-34", "K343-32" if asks_the_controller(target) else "INT-25", "LD-27")
    steps = [
        *opening(leader),
        InjectCut(as_="cut", from_=newcomer, to=_grants(target, follower)),
        Start(as_="start", nodes=newcomer, until="running"),
        *ask("unregistered", newcomer, _unregistered(target), repeat=4),
        MetadataFrom(as_="unseen", node=leader, lacks=newcomer, within_ms=LIVELY_MS, expect=must(grants)),
        Heal(as_="mend", fault="cut"),
        BrokerActive(as_="active", node=newcomer, within_ms=LIVELY_MS, expect=must(grants)),
        MetadataProbe(as_="registered", node=newcomer, topic="t", expect=answers(grants, "served")),
        TopicCreatedThrough(as_="useful", node=newcomer, within_ms=LIVELY_MS, expect=must("LIVE-01")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=cluster(target, follower, held_back=[newcomer]),
        topics=[topic([leader, follower])],
        steps=steps,
        coverage=[FaultProven(fault="cut"), StepDone(step="unregistered-produce"), StepDone(step="registered")],
    )


def _grants(target: TargetFacts, controller: str) -> str:
    """Who says that a broker may serve: with heartbeats the controller, and it may well be registered before."""
    if not target.around_zookeeper:
        return "controllers"
    return controller if asks_the_controller(target) else "zookeeper"


def _unregistered(target: TargetFacts) -> ExpectOutcome:
    return never_serves(target.rule("K631-33", "D343-07" if asks_the_controller(target) else "INT-50", "DLD-49"))


STORIES = (
    Story(
        slug="starts-fenced",
        title="A broker starts fenced and serves only after the controller said so",
        requirements=(
            "K631-26",
            "K631-33",
            "K631-34",
            "K631-42",
            "D631-09",
            "K343-11",
            "K343-34",
            "LIVE-01",
            "LIVE-03",
        ),
        needs=frozenset({Capability.LINKS}),
        seconds=9,
        build=build,
        dialects=EVERYWHERE,
    ),
)
