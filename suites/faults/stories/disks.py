"""Disks that fail, fill up, tear writes, turn bits over, or forget what was not made durable."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from functools import partial

from faults.capabilities import Capability
from harness.plan.conditions import ActiveController, IsrIs, LeaderIs, Logged, WorkloadAcks
from harness.plan.injects import (
    InjectBitFlip,
    InjectDiskError,
    InjectDiskFull,
    InjectDiskSlow,
    InjectKill,
    InjectPowerLoss,
    InjectTornWrite,
)
from harness.plan.model import Acknowledged, Coverage, FaultMet, FaultProven, Plan, StepDone, Topology
from harness.plan.probes import ProduceProbe
from harness.plan.steps import Bind, Heal, Shutdown, Start, Step
from suites.building import (
    CONTROLLER_IDS,
    LIVELY_MS,
    answers,
    cast,
    closing,
    cluster,
    compose,
    losses,
    must,
    node,
    opening,
    pace,
    topic,
    work_despite_losses,
)
from suites.faults.story import everywhere
from suites.story import AROUND_ZOOKEEPER, LEADER_DRIVEN, WITHOUT_ZOOKEEPER, Story, TargetFacts

SEGMENTS = "t-0/*.log"
CUT_OFF = "cut [0-9]+ torn bytes off|invalid messages|corrupt"
"""What servers say of a log that they cut because a batch in it is damaged."""
SLOW_MS = 150
"""For each write of the leader: below every deadline, and far above what a disk takes."""


def leader_cannot_write(torn: bool, story: Story, target: TargetFacts, seed: int) -> Plan:
    """Each write of the leader's segment fails, with nothing of it done, or with its begin."""
    leader, *others = cast(story, seed)
    fault: InjectDiskError | InjectTornWrite = InjectDiskError(
        as_="broken", node=leader, operations=("write",), files=SEGMENTS
    )
    if torn:
        first = random.Random(f"{seed}/{story.slug}/bytes").randrange(1, 100)
        fault = InjectTornWrite(as_="broken", node=leader, bytes=first, files=SEGMENTS)
    steps = [
        *opening(leader),
        fault,
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("DISK-01")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        *_repaired(leader, "broken"),
        *closing(),
    ]
    return _told(story, target, seed, [leader, *others], (leader,), steps, [FaultMet(fault="broken")])


def one_of_two_fails(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The leader has a replica in each of two log directories, and one of them answers writes with errors."""
    leader, *others = cast(story, seed)
    steps = [
        *opening(leader),
        LeaderIs(as_="cast-beside", partition="u-0", is_=leader, within_ms=LIVELY_MS),
        InjectDiskError(as_="broken", node=leader, operations=("write",), files=SEGMENTS),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("DISK-01")),
        ProduceProbe(
            as_="other", node=leader, topic="u", acks=1, timeout_ms=3000, repeat=2, expect=answers("DISK-07", "served")
        ),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        *_repaired(leader, "broken"),
        *closing(),
    ]
    plan = _told(story, target, seed, [leader, *others], (leader,), steps, [FaultMet(fault="broken")])
    two = tuple(
        node if "zookeeper" in node.roles else node.model_copy(update={"log_dirs": 2}) for node in plan.topology.nodes
    )
    beside = topic([leader, *others[:1]], name="u", min_isr=1)
    return plan.model_copy(
        update={"topology": plan.topology.model_copy(update={"nodes": two}), "topics": (*plan.topics, beside)}
    )


def follower_is_full(story: Story, target: TargetFacts, seed: int) -> Plan:
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        InjectDiskFull(as_="full", node=follower),
        IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=LIVELY_MS, expect=must("DISK-02")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        *_repaired(follower, "full"),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], (follower,), steps, [FaultMet(fault="full")])


def leader_is_slow(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Whether it goes on leading is its own affair; records are acknowledged, and none is lost."""
    leader, *others = cast(story, seed)
    steps = [
        *opening(leader),
        InjectDiskSlow(as_="slow", node=leader, ms=SLOW_MS, operations=("write",), files=SEGMENTS),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("DISK-03")),
        Heal(as_="quick", fault="slow"),
        *closing(),
    ]
    return _told(story, target, seed, [leader, *others], (leader,), steps, [FaultMet(fault="slow")])


def bit_flips(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A bit of what a follower has on disk turns over, and it crashes: the log that it starts on is damaged."""
    leader, follower, other = cast(story, seed)
    draw = random.Random(f"{seed}/{story.slug}/place")
    steps = [
        *opening(leader),
        InjectBitFlip(as_="flip", node=follower, file=SEGMENTS, byte=draw.randrange(1000), bit=draw.randrange(8)),
        InjectKill(as_="crash", nodes=follower),
        Heal(as_="restart", fault="crash"),
        Logged(as_="found", node=follower, says=CUT_OFF, within_ms=LIVELY_MS, expect=must("DISK-04")),
        IsrIs(as_="rejoined", partition="t-0", has=follower, within_ms=LIVELY_MS, expect=must("DIR-04")),
        *closing(),
    ]
    more: list[Coverage] = [FaultProven(fault="flip"), FaultProven(fault="crash")]
    return _told(story, target, seed, [leader, follower, other], (follower,), steps, more)


def leader_loses_power(story: Story, target: TargetFacts, seed: int) -> Plan:
    """What it had acknowledged is gone from its disk, and the others have it."""
    leader, *others = cast(story, seed)
    steps = [
        *opening(leader),
        InjectPowerLoss(as_="dark", nodes=leader),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("DISK-05")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="restart", fault="dark"),
        IsrIs(as_="refilled", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("DIR-04")),
        *closing(),
    ]
    return _told(story, target, seed, [leader, *others], (leader,), steps, [FaultProven(fault="dark")])


def controllers_lose_power(story: Story, target: TargetFacts, seed: int) -> Plan:
    """All of them at once: what was decided is on their disks, and so are their votes."""
    leader, *others = cast(story, seed)
    controllers = tuple(map(node, CONTROLLER_IDS))
    steps = [
        *opening(leader),
        InjectPowerLoss(as_="dark", nodes=controllers),
        Heal(as_="restart", fault="dark"),
        ActiveController(as_="elected", within_ms=LIVELY_MS, expect=must("LIVE-02")),
        *closing(),
    ]
    return _told(story, target, seed, [leader, *others], controllers, steps, [FaultProven(fault="dark")])


def controller_cannot_fsync(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Nothing that it cannot make durable is decided by it; another one decides."""
    leader, follower, other = cast(story, seed)
    controllers = tuple(map(node, CONTROLLER_IDS))
    steps = [
        *opening(leader),
        Bind(as_="first", node="active-controller"),
        InjectDiskError(as_="broken", node="$first", operations=("fsync",)),
        InjectKill(as_="crash", nodes=follower),
        IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=LIVELY_MS, expect=must("DISK-06")),
        ActiveController(as_="another", is_not="$first", within_ms=LIVELY_MS, expect=must("DISK-06")),
        Heal(as_="restart", fault="crash"),
        *_repaired("$first", "broken"),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], controllers, steps, [FaultMet(fault="broken")])


def _repaired(broker: str, fault: str) -> list[Step]:
    """A server that has given its disk up, or has ended over it, uses it once it is started anew."""
    return [
        Heal(as_="repaired", fault=fault),
        Shutdown(as_="stop", nodes=broker),
        Start(as_="start", nodes=broker),
    ]


def _told(
    story: Story,
    target: TargetFacts,
    seed: int,
    replicas: Sequence[str],
    broken: Collection[str],
    steps: Sequence[Step],
    coverage: Sequence[Coverage],
) -> Plan:
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=_with_disks(cluster(target, replicas[-1]), broken),
        topics=[topic(replicas)],
        workload=work_despite_losses(target),
        steps=steps,
        deviations=losses(target, "may"),
        coverage=[*coverage, StepDone(step="whole"), Acknowledged(by="p1", acks="all", after="heal.ended")],
    )


def _with_disks(topology: Topology, names: Collection[str]) -> Topology:
    """The disks of these nodes can be broken."""
    nodes = (node.model_copy(update={"disk": "breakable"}) if node.name in names else node for node in topology.nodes)
    return topology.model_copy(update={"nodes": tuple(nodes)})


_NEEDS = (Capability.DISKS,)

STORIES: tuple[Story, ...] = (
    everywhere(
        "leader-cannot-write",
        "A leader whose disk answers writes with errors is no leader any more",
        partial(leader_cannot_write, False),
        12,
        "DISK-01",
        needs=_NEEDS,
    ),
    everywhere(
        "leader-writes-are-torn",
        "A leader whose writes reach its disk in part is no leader any more, and the torn end is cut off",
        partial(leader_cannot_write, True),
        12,
        "DISK-01",
        needs=_NEEDS,
    ),
    everywhere(
        "one-of-two-disks-fails",
        "A leader with two disks, one of which answers writes with errors, serves on what is on the other",
        one_of_two_fails,
        14,
        "DISK-01",
        "DISK-07",
        needs=(*_NEEDS, Capability.LOG_DIRS),
        dialects=AROUND_ZOOKEEPER | LEADER_DRIVEN,
    ),
    everywhere(
        "follower-disk-full",
        "A follower without room on its disk leaves the ISR, and comes back when it has room and is restarted",
        follower_is_full,
        14,
        "DISK-02",
        needs=_NEEDS,
    ),
    everywhere(
        "leader-disk-slow",
        "A leader whose disk is slow acknowledges more slowly, and loses nothing",
        leader_is_slow,
        12,
        "DISK-03",
        needs=_NEEDS,
    ),
    everywhere(
        "bit-flip-on-a-follower",
        "A follower that crashes finds the bit that turned over on its disk, and gets the batch anew",
        bit_flips,
        12,
        "DISK-04",
        "DIR-04",
        needs=(*_NEEDS, Capability.KILL),
    ),
    everywhere(
        "leader-loses-power",
        "A leader's machine loses power, and with it what was not made durable; nothing acknowledged is lost",
        leader_loses_power,
        14,
        "DISK-05",
        "DIR-04",
        needs=_NEEDS,
    ),
    everywhere(
        "controllers-lose-power",
        "All controllers lose power at once, and remember what they decided and whom they voted for",
        controllers_lose_power,
        14,
        "LIVE-02",
        needs=_NEEDS,
        dialects=WITHOUT_ZOOKEEPER,
    ),
    everywhere(
        "controller-cannot-fsync",
        "An active controller whose disk answers fsync with errors decides nothing any more",
        controller_cannot_fsync,
        16,
        "DISK-06",
        needs=(*_NEEDS, Capability.KILL),
        dialects=WITHOUT_ZOOKEEPER,
    ),
)
