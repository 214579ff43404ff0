"""A leader that is cut from ZooKeeper, or from its followers, both ways or one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.conditions import (
    BrokerActive,
    BrokerEpochAbove,
    IsrIs,
    LeaderEpochAbove,
    LeaderIs,
    Registered,
    WorkloadAcks,
)
from harness.plan.injects import InjectCut, InjectIsolate, InjectOneWay, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import ProduceProbe
from harness.plan.steps import Bind, Heal, Hold, Step
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
from suites.replication_v2.story import replication_v2
from suites.story import Story, TargetFacts

FromZooKeeper = Callable[[str], Step]


def cut(leader: str) -> Step:
    return InjectCut(as_="cut", from_=leader, to="zookeeper")


def stall(leader: str) -> Step:
    return InjectStall(as_="cut", from_=leader, to="zookeeper")


def requests_lost(leader: str) -> Step:
    """ZooKeeper hears nothing of the leader; what it says itself arrives."""
    return InjectOneWay(as_="cut", from_=leader, to="zookeeper")


def replies_lost(leader: str) -> Step:
    """ZooKeeper hears the leader, which does not hear it: the session may live on by what is asked for it."""
    return InjectOneWay(as_="cut", from_="zookeeper", to=leader)


def without_zookeeper(fault: FromZooKeeper, story: Story, target: TargetFacts, seed: int) -> Plan:
    """After one session it serves nobody, whether its session is over for ZooKeeper or not."""
    leader, *followers = cast(story, seed)
    timing = pace(target)
    over = After(event="cut.proven", plus_ms=timing.session_ms)
    steps = [
        *opening(leader),
        Bind(as_="broker-epoch", value=f"broker-epoch:{leader}"),
        Bind(as_="epoch", value="leader-epoch:t-0"),
        fault(leader),
        Hold(as_="session-over", after="cut.proven", ms=timing.session_ms),
        *ask("alone", leader, never_serves("DLD-15"), after=over),
        *(_moves(leader) if fault is not replies_lost else []),
        *ask("deposed", leader, never_serves("DLD-15"), repeat=1, after=over),
        Heal(as_="mend", fault="cut"),
        *(_returns(leader) if fault is not replies_lost else []),
        BrokerActive(as_="active", node=leader, within_ms=LIVELY_MS, expect=must("DLD-16")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, *followers])],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="alone-produce"),
            Acknowledged(by="p1", acks="all", after="mend.ended" if fault is replies_lost else "moved.ended"),
        ],
    )


def _moves(leader: str) -> list[Step]:
    return [
        Registered(as_="gone", node=leader, is_=False, within_ms=LIVELY_MS, expect=must("LD-10")),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("LD-12")),
        LeaderEpochAbove(as_="next", partition="t-0", value="$epoch", within_ms=LIVELY_MS, expect=must("LD-50")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LD-55")),
    ]


def _returns(leader: str) -> list[Step]:
    return [
        BrokerEpochAbove(as_="anew", node=leader, value="$broker-epoch", within_ms=LIVELY_MS, expect=must("DLD-16")),
        IsrIs(as_="rejoined", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("LD-49")),
    ]


FromFollowers = Callable[[str, tuple[str, ...]], Step]


def both_ways(leader: str, followers: tuple[str, ...]) -> Step:
    return InjectIsolate(as_="cut", nodes=leader, from_=followers)


def fetches_lost(leader: str, followers: tuple[str, ...]) -> Step:
    return InjectOneWay(as_="cut", from_=followers, to=leader)


def records_lost(leader: str, followers: tuple[str, ...]) -> Step:
    """The leader hears the fetches; its answers get lost."""
    return InjectOneWay(as_="cut", from_=leader, to=followers)


def without_followers(fault: FromFollowers, story: Story, target: TargetFacts, seed: int) -> Plan:
    """It reaches ZooKeeper, so it is leader as before: alone in its ISR, and below the minimum."""
    leader, *others = cast(story, seed)
    followers = tuple(others)
    timing = pace(target)
    steps = [
        *opening(leader),
        Bind(as_="epoch", value="leader-epoch:t-0"),
        fault(leader, followers),
        ProduceProbe(as_="unheard", node=leader, topic="t", acks="all", timeout_ms=1000, expect=never_serves("LD-72")),
        IsrIs(as_="alone", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("LD-70")),
        ProduceProbe(
            as_="too-few",
            node=leader,
            topic="t",
            acks="all",
            repeat=3,
            timeout_ms=3000,
            after=After(event="alone.ended"),
            expect=answers("DLD-23", "error:[19, 20]"),
        ),
        ProduceProbe(as_="leads", node=leader, topic="t", acks=1, timeout_ms=3000, expect=answers("LD-68", "served")),
        LeaderIs(as_="deposed", partition="t-0", is_not=leader, within_ms=timing.session_ms, expect=never("LD-01")),
        LeaderEpochAbove(as_="moved", partition="t-0", value="$epoch", within_ms=200, expect=never("LD-03")),
        Heal(as_="mend", fault="cut"),
        IsrIs(as_="together", partition="t-0", has=(leader, *followers), within_ms=LIVELY_MS, expect=must("LD-71")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, *followers])],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="too-few"),
            Acknowledged(by="p1", acks="all", after="together.ended"),
        ],
    )


def _zookeeper(how: str, fault: FromZooKeeper, title: str) -> Story:
    return replication_v2(
        f"v2-cut-from-zookeeper-{how}",
        title,
        partial(without_zookeeper, fault),
        11,
        "LD-12",
        "LD-24",
        "DLD-47",
        needs={Capability.LINKS},
    )


def _followers(how: str, fault: FromFollowers, title: str) -> Story:
    return replication_v2(
        f"v2-cut-from-followers-{how}",
        title,
        partial(without_followers, fault),
        11,
        "LD-17",
        "LD-23",
        "LD-69",
        needs={Capability.LINKS},
    )


STORIES = (
    _zookeeper("cut", cut, "A leader cut from ZooKeeper serves nothing after one session, and another leads"),
    _zookeeper("stall", stall, "A leader whose links to ZooKeeper stall serves nothing after one session"),
    _zookeeper("requests", requests_lost, "A leader that ZooKeeper does not hear serves nothing after one session"),
    _zookeeper("replies", replies_lost, "A leader that does not hear ZooKeeper serves nothing after one session"),
    _followers("both", both_ways, "A leader cut from its followers stays leader and promises nothing"),
    _followers("fetches", fetches_lost, "A leader that does not hear its followers stays leader and promises nothing"),
    _followers("records", records_lost, "A leader that its followers do not hear stays leader and promises nothing"),
)
