"""A leader that reaches only some of those it depends on: the controller, ZooKeeper, both or neither."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from faults.capabilities import Capability
from harness.plan.base import ExpectOutcome
from harness.plan.conditions import (
    BrokerActive,
    BrokerEpochAbove,
    IsrIs,
    LeaderIs,
    MetadataFrom,
    Registered,
    WorkloadAcks,
)
from harness.plan.injects import InjectCut, InjectIsolate, InjectOneWay
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import CreateTopicProbe, MetadataProbe, ProduceProbe
from harness.plan.steps import Bind, Heal, Hold, Produce, Step
from suites.building import (
    LIVELY_MS,
    answers,
    ask,
    cast,
    closing,
    compose,
    must,
    never,
    never_serves,
    opening,
    pace,
    topic,
)
from suites.internals.story import internals
from suites.story import Story, TargetFacts
from suites.znodes import reassign


def old(requirement: str) -> ExpectOutcome:
    """Metadata of before: what was created since is unknown."""
    return answers(requirement, "error:3")


def stale_metadata(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The leader reaches ZooKeeper and its other follower, and nothing passes between it and the controller.

    It is alive for everybody, changes its ISR as it likes, and hands out metadata as old as the cut: how old, and for
    how long, the run's finding `stale-metadata` says.
    """
    leader, follower, controller = cast(story, seed)
    timing = pace(target)
    steps = [
        *opening(leader),
        InjectIsolate(as_="cut", nodes=leader, from_=controller),
        CreateTopicProbe(
            as_="news", node=controller, topic="news", timeout_ms=9000, expect=answers("INT-03", "served")
        ),
        MetadataFrom(as_="told", node=follower, partition="news-0", within_ms=LIVELY_MS, expect=must("INT-23")),
        reassign("move", {"u-0": (controller,)}),
        LeaderIs(as_="led-elsewhere", partition="u-0", is_=controller, within_ms=LIVELY_MS, expect=must("INT-38")),
        MetadataFrom(
            as_="learns",
            node=leader,
            partition="u-0",
            leader=controller,
            within_ms=2 * timing.session_ms,
            expect=never("K343-02"),
        ),
        MetadataProbe(as_="untold", node=leader, topic="news", repeat=4, expect=old("K343-02")),
        IsrIs(as_="shrunk", partition="t-0", lacks=controller, within_ms=LIVELY_MS, expect=must("INT-02")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Registered(as_="given-up", node=leader, is_=False, within_ms=500, expect=never("K343-01")),
        LeaderIs(as_="deposed", partition="t-0", is_not=leader, within_ms=500, expect=never("INT-43")),
        *ask("alive", leader, answers("K343-57", "served"), repeat=1),
        MetadataProbe(as_="still-untold", node=leader, topic="news", repeat=4, expect=old("K343-03")),
        Heal(as_="mend", fault="cut"),
        IsrIs(as_="rejoined", partition="t-0", has=controller, within_ms=LIVELY_MS, expect=must("ISR-06")),
        *closing(),
        MetadataProbe(as_="told-at-last", node=leader, topic="news", expect=answers("INT-18", "served")),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, follower, controller]), topic([follower, controller], name="u", min_isr=1)],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="untold"),
            StepDone(step="still-untold"),
            Acknowledged(by="p1", acks="all", after="shrunk.ended", before="mend.begun"),
        ],
    )


def cut(leader: str, controller: str) -> Step:
    return InjectCut(as_="cut", from_=leader, to="zookeeper")


def neither(leader: str, controller: str) -> Step:
    return InjectIsolate(as_="cut", nodes=leader, from_=("zookeeper", controller))


def requests_lost(leader: str, controller: str) -> Step:
    """ZooKeeper hears nothing of the leader; what it says itself arrives."""
    return InjectOneWay(as_="cut", from_=leader, to="zookeeper")


def replies_lost(leader: str, controller: str) -> Step:
    """ZooKeeper hears the leader, which does not hear it: the session may live on by what is asked for it."""
    return InjectOneWay(as_="cut", from_="zookeeper", to=leader)


Fault = Callable[[str, str], Step]


def without_zookeeper(fault: Fault, story: Story, target: TargetFacts, seed: int) -> Plan:
    """The session ends, the znode goes, another leads; the old one, not told, commits nothing.

    With heartbeats it is fenced as well: a controller grants nothing to a broker that is not registered.
    """
    leader, *others = cast(story, seed)
    timing = pace(target)
    ends = fault is not replies_lost
    fences = "heartbeats" in target.levels and story.level(target) != "base"
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        fault(leader, others[-1]),
        *(_given_up(leader) if ends else [Hold(as_="a-while", after="cut.proven", ms=2 * timing.session_ms)]),
        *(_fenced(leader, timing.session_ms + timing.fence_ms) if fences and ends else []),
        Produce(as_="unsafe", topic="t", node=leader, acks=1, records=5, timeout_ms=300),
        ProduceProbe(
            as_="promise",
            node=leader,
            topic="t",
            acks="all",
            repeat=3,
            timeout_ms=700,
            expect=never_serves("INT-57") if ends else None,
        ),
        Heal(as_="mend", fault="cut"),
        *(_returned(leader) if ends else []),
        BrokerActive(as_="active", node=leader, within_ms=LIVELY_MS, expect=must("INT-51")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, *others])],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="promise"),
            Acknowledged(by="p1", acks="all", after="mend.ended"),
        ],
    )


def _given_up(leader: str) -> list[Step]:
    return [
        Registered(as_="gone", node=leader, is_=False, within_ms=LIVELY_MS, expect=must("INT-43")),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("INT-28")),
        # What the successor fetched before it was told is acknowledged by right.
        Bind(as_="successor", node="leader:t-0"),
        MetadataFrom(
            as_="told",
            node="$successor",
            partition="t-0",
            leader="$successor",
            within_ms=LIVELY_MS,
            expect=must("INT-22"),
        ),
    ]


def _fenced(leader: str, deadline_ms: int) -> list[Step]:
    return [
        Hold(as_="fence-over", after="cut.proven", ms=deadline_ms),
        *ask("fenced", leader, never_serves("D343-14")),
    ]


def _returned(leader: str) -> list[Step]:
    return [
        BrokerEpochAbove(as_="anew", node=leader, value="$epoch", within_ms=LIVELY_MS, expect=must("INT-51")),
        IsrIs(as_="rejoined", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("HW-04")),
    ]


def _story(how: str, fault: Fault, title: str, level: str, *requirements: str) -> Story:
    return internals(
        how if level == "base" else f"{how}-at-{level}",
        title,
        partial(without_zookeeper, fault),
        14,
        "INT-17",
        "INT-19",
        "INT-44",
        "INT-53",
        "INT-58",
        "INT-59",
        *requirements,
        needs={Capability.LINKS},
        levels=(level,),
    )


_CUTS: tuple[tuple[str, Fault, str], ...] = (
    ("reaches-controller-not-zookeeper", cut, "A leader that reaches the controller and not ZooKeeper"),
    ("reaches-neither", neither, "A leader that reaches neither ZooKeeper nor the controller"),
    ("unheard-by-zookeeper", requests_lost, "A leader that hears ZooKeeper and is not heard by it"),
)
_AT: tuple[tuple[str, str], ...] = (
    ("base", "loses its znode and its leadership, and commits nothing"),
    ("heartbeats", "loses its znode and its leadership, and is fenced"),
)

STORIES = (
    internals(
        "reaches-zookeeper-not-controller",
        "Without heartbeats a leader that the controller cannot reach stays alive, with metadata as old as the cut",
        stale_metadata,
        14,
        "INT-01",
        "INT-42",
        "K343-04",
        "K343-58",
        "DINT-01",
        needs={Capability.LINKS},
        levels=("base",),
    ),
    *(_story(how, fault, f"{title} {what}", level) for how, fault, title in _CUTS for level, what in _AT),
    _story(
        "deaf-to-zookeeper",
        replies_lost,
        "A leader that ZooKeeper hears and that does not hear it comes back whole",
        "base",
        "DINT-14",
    ),
)
