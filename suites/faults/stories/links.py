"""Bytes between nodes that are lost, held back, torn or slow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from faults.capabilities import Capability
from harness.plan.conditions import IsrIs, LeaderIs, WorkloadAcks
from harness.plan.injects import (
    InjectBridge,
    InjectCutAfterBytes,
    InjectFlapping,
    InjectOneWay,
    InjectReset,
    InjectRing,
    InjectSlow,
)
from harness.plan.model import Acknowledged, Attempted, FaultProven, Plan, Topology
from harness.plan.steps import Heal, Hold, Step
from suites.building import (
    CONTROLLER_IDS,
    LIVELY_MS,
    around_zookeeper,
    authority,
    cast,
    closing,
    compose,
    losses,
    must,
    node,
    opening,
    pace,
    silence_ms,
    six,
    topic,
    work_despite_losses,
)
from suites.faults.story import everywhere
from suites.story import Story, TargetFacts

MANY = 300
"""Records that take several connections, where each is torn after a second or two."""
TORN_REQUESTS, TORN_REPLIES = 20_011, 30_011
"""Bytes of a connection: more than a batch that waited for the next one, and no multiple of anything."""
ON_MS, OFF_MS, TIMES = 600, 900, 5


def bridge(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The leader is on one side with nobody, a follower and those who decide are on the other; the second follower
    reaches both, and goes on fetching from a leader that is none any more until it hears of it."""
    leader, follower, over = cast(story, seed)
    serves_on = target.differs("AK-04") or target.differs("AZ-01")
    steps = [
        *opening(leader),
        InjectBridge(as_="split", nodes=leader, from_=(follower, authority(target)), over=over),
        LeaderIs(
            as_="moved",
            partition="t-0",
            is_not=leader,
            within_ms=LIVELY_MS,
            expect=must(target.rule("D631-07", "INT-28", "LD-31")),
        ),
        # Who serves on hands out old metadata too, and a client that asks it, and nobody else, stays with it.
        *([] if serves_on else [_goes_on()]),
        Heal(as_="mend", fault="split"),
        _returns(leader),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower, over])],
        steps=steps,
        coverage=[FaultProven(fault="split"), Acknowledged(by="p1", acks="all", after="moved.ended")],
    )


def ring(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Brokers and deciders in a circle: no two see the same part of the cluster, and hardly anything can be decided.

    Whatever is acknowledged in the meantime counts.
    """
    brokers = cast(story, seed)
    timing = pace(target)
    deciders = [f"zk-{each}" if target.around_zookeeper else node(each) for each in CONTROLLER_IDS]
    steps = [
        *opening(brokers[0]),
        InjectRing(as_="circle", nodes=(*brokers, *deciders)),
        Hold(as_="round", after="circle.proven", ms=2 * silence_ms(target, timing)),
        Heal(as_="mend", fault="circle"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=_three_deciders(target, brokers[-1]),
        topics=[topic(brokers)],
        workload=work_despite_losses(target),
        steps=steps,
        deviations=losses(target, "may"),
        coverage=[
            FaultProven(fault="circle"),
            Attempted(by="p1", after="circle.proven", before="mend.begun"),
            Acknowledged(by="p1", acks="all", after="whole.ended"),
        ],
    )


def _three_deciders(target: TargetFacts, controller: str) -> Topology:
    if not target.around_zookeeper:
        return six()
    return around_zookeeper(servers=3, controller=None if target.leader_driven else controller)


def flapping(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The link between the leader and a follower goes and comes, sooner than the lag that costs a place in the ISR and
    then again."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        InjectFlapping(as_="flap", nodes="leader:t-0", from_=follower, on_ms=ON_MS, off_ms=OFF_MS, count=TIMES),
        _goes_on(),
        Hold(as_="all-changes", after="flap.injected", ms=TIMES * (ON_MS + OFF_MS)),
        Heal(as_="mend", fault="flap"),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "flap")


def torn(stream: str, story: Story, target: TargetFacts, seed: int) -> Plan:
    """Each connection ends in the middle of a frame; whoever sent it sends it again, and nothing counts twice."""
    leader, *followers = cast(story, seed)
    faults: Mapping[str, Step] = {
        "produce": InjectCutAfterBytes(as_="tear", from_="site:main", to=leader, after_bytes=TORN_REQUESTS),
        "fetch": InjectCutAfterBytes(
            as_="tear", from_="followers:t-0", to="leader:t-0", after_bytes=TORN_REPLIES, stream="replies"
        ),
    }
    steps = [*opening(leader), faults[stream], _goes_on(MANY), Heal(as_="mend", fault="tear"), *closing()]
    return _told(story, target, seed, [leader, *followers], steps, "tear")


def slow(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Followers are a long and narrow way from the leader: records are acknowledged, later."""
    leader, *followers = cast(story, seed)
    steps = [
        *opening(leader),
        InjectSlow(as_="far", from_="followers:t-0", to="leader:t-0", latency_ms=100, rate_kb=40),
        _goes_on(100),
        Heal(as_="near", fault="far"),
        *closing(),
    ]
    return _told(story, target, seed, [leader, *followers], steps, "far")


def deaf(leader: str, follower: str) -> Step:
    """What it asks is heard, and all answers are lost."""
    return InjectOneWay(as_="lose", from_=leader, to=follower, how="blackhole")


def reset(leader: str, follower: str) -> Step:
    """It can connect, and nothing more."""
    return InjectReset(as_="lose", from_=follower, to=leader)


def follower_lost(how: Callable[[str, str], Step], story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower that gets nothing leaves the ISR, which goes on without it, and returns."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        how(leader, follower),
        IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=LIVELY_MS, expect=must("ISR-05")),
        _goes_on(),
        Heal(as_="mend", fault="lose"),
        _returns(follower),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "lose")


def _goes_on(more: int = 20) -> Step:
    return WorkloadAcks(as_="goes-on", more=more, within_ms=LIVELY_MS, expect=must("ISR-05"))


def _returns(broker: str) -> Step:
    return IsrIs(as_="returned", partition="t-0", has=broker, within_ms=LIVELY_MS, expect=must("ISR-06"))


def _told(story: Story, target: TargetFacts, seed: int, replicas: list[str], steps: list[Step], fault: str) -> Plan:
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic(replicas)],
        steps=steps,
        coverage=[
            FaultProven(fault=fault),
            Acknowledged(by="p1", acks="all", after=f"{fault}.proven", before=f"{_healing(steps)}.begun"),
        ],
    )


def _healing(steps: list[Step]) -> str:
    return next(step.as_ for step in steps if isinstance(step, Heal) and step.as_)


_links = partial(everywhere, needs={Capability.LINKS})

STORIES: tuple[Story, ...] = (
    _links(
        "links-bridge",
        "A leader that only one follower still sees is deposed, and its half acknowledges nothing",
        bridge,
        12,
        "ISR-06",
        "D631-07",
        "INT-28",
        "LD-31",
    ),
    _links("links-ring", "Each node sees its neighbours only; what was acknowledged is there afterwards", ring, 15),
    _links("links-flapping", "A link between leader and follower goes and comes", flapping, 15, "ISR-05"),
    _links(
        "links-torn-produce",
        "Produce requests are torn in mid-frame",
        partial(torn, "produce"),
        12,
        "ISR-05",
    ),
    _links(
        "links-torn-fetch",
        "Answers to followers are torn in mid-frame",
        partial(torn, "fetch"),
        12,
        "ISR-05",
    ),
    _links("links-slow-replication", "Followers are far away from their leader", slow, 15, "ISR-05"),
    _links(
        "links-deaf-follower",
        "A follower whose answers are lost leaves the ISR and returns",
        partial(follower_lost, deaf),
        12,
        "ISR-05",
        "ISR-06",
    ),
    _links(
        "links-reset",
        "A follower that can connect and nothing more leaves the ISR and returns",
        partial(follower_lost, reset),
        12,
        "ISR-05",
        "ISR-06",
    ),
)
