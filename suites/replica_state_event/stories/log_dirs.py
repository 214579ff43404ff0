"""One of two log dirs fails, for real: what was in it goes offline, what is in the other serves on."""

from __future__ import annotations

from functools import partial
from typing import Literal

from faults.capabilities import Capability
from harness.plan.conditions import (
    ActiveController,
    BrokerActive,
    BrokerEpochAbove,
    IsrIs,
    LeaderIs,
    ReplicaOffline,
    WorkloadAcks,
    Znode,
)
from harness.plan.injects import InjectCut, InjectKill, InjectLogDir, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone, Topology
from harness.plan.probes import EventTopic, ProduceProbe, ReplicaStateEventProbe
from harness.plan.steps import Bind, Heal, Hold, Shutdown, Start, Step
from suites.building import (
    LIVELY_MS,
    answers,
    around_zookeeper,
    cast,
    closing,
    compose,
    must,
    never,
    opening,
    pace,
    topic,
)
from suites.replica_state_event.story import OR_AS_SHIPPED, replica_state_event
from suites.story import Story, TargetFacts
from suites.znodes import LOG_DIR_EVENTS, log_dir_event

LONG_LEASE_MS = 12_000
"""Where a broker that is cut from the controller is to stay active, so that only its event is lost."""
SESSION_MS = 1500
NOTIFICATION = f"{LOG_DIR_EVENTS}/log_dir_event_0000000000"
"""The first that anybody writes in the life of a cluster."""

Failing = Literal["leader", "follower"]


def two_dirs(controller: str) -> Topology:
    return around_zookeeper(controller=controller, log_dirs=2)


def fails(which: Failing, story: Story, target: TargetFacts, seed: int) -> Plan:
    """The broker has replicas of both topics, one in each dir; the dir with `t-0` fails."""
    leader, follower, controller = cast(story, seed)
    broker = leader if which == "leader" else follower
    level = story.level(target)
    steps = [
        *opening(leader),
        *([_notified("watched", leader), _taken("watched-and-taken")] if level == "base" else []),
        InjectLogDir(as_="fail", node=broker, partition="t-0"),
        _noticed(which, broker),
        ReplicaOffline(as_="offline", node=broker, partition="t-0", within_ms=LIVELY_MS, expect=must("DRSE-06")),
        ProduceProbe(as_="failed", node=broker, topic="t", acks=1, repeat=2, expect=answers("DRSE-10", "error:56")),
        ProduceProbe(
            as_="other", node=broker, topic="u", acks=1, timeout_ms=3000, repeat=2, expect=answers("DRSE-06", "served")
        ),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        *([] if level == "base" else _no_znode(target, broker)),
        *restored(broker),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=two_dirs(controller),
        topics=[topic([leader, follower, controller]), topic([broker, controller], name="u", min_isr=1)],
        steps=steps,
        coverage=[
            FaultProven(fault="fail"),
            StepDone(step="other"),
            Acknowledged(by="p1", acks="all", after="offline.ended", before="repaired.begun"),
        ],
    )


def _noticed(which: Failing, broker: str) -> Step:
    if which == "leader":
        return LeaderIs(as_="noticed", partition="t-0", is_not=broker, within_ms=LIVELY_MS, expect=must("RSE-05"))
    return IsrIs(as_="noticed", partition="t-0", lacks=broker, within_ms=LIVELY_MS, expect=must("RSE-19"))


def _notified(as_: str, broker: str) -> Step:
    return log_dir_event(as_, broker)


def _taken(as_: str) -> Step:
    """Who watches deletes what was dealt with."""
    return Znode(as_=as_, path=NOTIFICATION, exists=False, within_ms=LIVELY_MS, expect=must("DRSE-11"))


def _no_znode(target: TargetFacts, broker: str) -> list[Step]:
    """A notification of our own gets the number 0, for no broker wrote one; and it stays, for nobody watches."""
    if target.differs("AZ-04"):
        taken = must("RSE-36").model_copy(update={"difference": "AZ-04"})
        return [
            _notified("ours", broker),
            Znode(as_="first", path=NOTIFICATION, exists=False, within_ms=LIVELY_MS, expect=taken),
        ]
    return [
        _notified("ours", broker),
        Znode(as_="first", path=NOTIFICATION, has='"broker"', within_ms=1000, expect=must("RSE-36")),
        Znode(as_="taken", path=NOTIFICATION, exists=False, within_ms=1500, expect=never("RSE-37")),
    ]


def restored(broker: str) -> list[Step]:
    """The dir is there again; the broker uses it when it is started anew."""
    return [
        Heal(as_="repaired", fault="fail"),
        Shutdown(as_="stop", nodes=broker),
        Start(as_="start", nodes=broker),
        IsrIs(as_="rejoined", partition="t-0", has=broker, within_ms=LIVELY_MS, expect=must("DRSE-09")),
    ]


def event_lost(which: Failing, story: Story, target: TargetFacts, seed: int) -> Plan:
    """Only the event is lost: the lease is so long that the cut is over before the broker is given up for it."""
    leader, follower, controller = cast(story, seed)
    broker = leader if which == "leader" else follower
    steps = [
        *opening(leader),
        InjectCut(as_="cut", from_=broker, to=controller),
        InjectLogDir(as_="fail", node=broker, partition="t-0"),
        *(_stays(leader) if which == "leader" else _removed(follower)),
        Heal(as_="repaired", fault="fail"),
        InjectKill(as_="kill", nodes=broker),
        *(_moves_now(leader) if which == "leader" else []),
        Heal(as_="mend", fault="cut"),
        Heal(as_="restart", fault="kill"),
        IsrIs(as_="rejoined", partition="t-0", has=broker, within_ms=LIVELY_MS, expect=must("DRSE-09")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, lease_ms=LONG_LEASE_MS, session_ms=SESSION_MS),
        topology=two_dirs(controller),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            FaultProven(fault="fail"),
            FaultProven(fault="kill"),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


def _stays(leader: str) -> list[Step]:
    """It knows that it cannot serve the partition, and nobody else does."""
    return [
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=3000, expect=never("RSE-33")),
        ProduceProbe(as_="failed", node=leader, topic="t", acks=1, repeat=2, expect=answers("DRSE-10", "error:56")),
    ]


def _moves_now(leader: str) -> list[Step]:
    return [LeaderIs(as_="moves", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("RSE-33"))]


def _removed(follower: str) -> list[Step]:
    return [
        IsrIs(as_="removed", partition="t-0", lacks=follower, within_ms=LIVELY_MS, expect=must("RSE-32")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
    ]


def controller_dies(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The controller has the event, cannot write, and is killed; the next one asks every broker for its replicas.

    That it has the event is known by one more of the same kind, which it answers although it cannot act on it.
    """
    leader, follower, controller = cast(story, seed)
    steps = [
        *opening(leader),
        InjectStall(as_="powerless", from_=controller, to="zookeeper"),
        InjectLogDir(as_="fail", node=leader, partition="t-0"),
        ReplicaStateEventProbe(
            as_="received",
            node=controller,
            broker=leader,
            topics=(EventTopic(topic="t", partitions=(0,)),),
            expect=answers("RSE-22", "served"),
        ),
        InjectKill(as_="kill", nodes=controller),
        ActiveController(as_="elected", is_not=controller, within_ms=LIVELY_MS, expect=must("INT-66")),
        LeaderIs(as_="moved", partition="t-0", is_=follower, within_ms=LIVELY_MS, expect=must("RSE-34")),
        ReplicaOffline(as_="offline", node=leader, partition="t-0", within_ms=LIVELY_MS, expect=must("RSE-34")),
        Heal(as_="power", fault="powerless"),
        Heal(as_="restart", fault="kill"),
        *restored(leader),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, session_ms=4000),
        topology=two_dirs(controller),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="powerless"),
            FaultProven(fault="fail"),
            FaultProven(fault="kill"),
            StepDone(step="offline"),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


def late_event(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The event waits in the link while the broker is repaired and started anew, and arrives in the time of the next.

    A second one, of the same epoch, is sent by hand.
    """
    leader, follower, controller = cast(story, seed)
    timing = pace(target, lease_ms=4000, session_ms=SESSION_MS)
    steps = [
        *opening(leader),
        Bind(as_="old", value=f"broker-epoch:{follower}"),
        InjectStall(as_="waiting", from_=follower, to=controller, streams="requests"),
        InjectLogDir(as_="fail", node=follower, partition="t-0"),
        Hold(as_="queued", after="fail.proven", ms=2000),
        InjectKill(as_="kill", nodes=follower, back="running"),
        Heal(as_="repaired", fault="fail"),
        Heal(as_="restart", fault="kill"),
        Heal(as_="release", fault="waiting"),
        BrokerEpochAbove(as_="anew", node=follower, value="$old", within_ms=LIVELY_MS),
        BrokerActive(as_="active", node=follower, within_ms=LIVELY_MS, expect=must("RSE-24")),
        IsrIs(as_="rejoined", partition="t-0", has=follower, within_ms=LIVELY_MS, expect=must("DRSE-09")),
        ReplicaStateEventProbe(
            as_="again",
            node="active-controller",
            broker=follower,
            broker_epoch="$old",
            expect=answers("RSE-14", "error:77"),
            unchanged=("t-0", "brokers"),
        ),
        ReplicaOffline(as_="offline", node=follower, partition="t-0", within_ms=1000, expect=never("RSE-24")),
        IsrIs(as_="left-again", partition="t-0", lacks=follower, within_ms=500, expect=never("RSE-24")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=two_dirs(controller),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="waiting"),
            FaultProven(fault="fail"),
            FaultProven(fault="kill"),
            StepDone(step="again"),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


_BOTH: tuple[Failing, ...] = ("leader", "follower")
_LOG_DIRS = {Capability.LOG_DIRS}
_BELOW = ("RSE-01", "RSE-02", "RSE-03", "RSE-04")
_ABOVE = ("RSE-06", "RSE-07", "RSE-23", "RSE-25", "RSE-35", "RSE-36", "RSE-37")

STORIES = (
    *(
        replica_state_event(
            f"log-dir-fails-on-a-{which}",
            f"A log dir fails on a {which}: the broker reports it by RPC, and nothing is written to ZooKeeper for it",
            partial(fails, which),
            17,
            *_ABOVE,
            "DRSE-07",
            needs=_LOG_DIRS,
            levels=OR_AS_SHIPPED,
        )
        for which in _BOTH
    ),
    *(
        replica_state_event(
            f"log-dir-fails-on-a-{which}-at-base",
            f"A log dir fails on a {which}: below the raised level a znode tells the controller",
            partial(fails, which),
            17,
            *_BELOW,
            "DRSE-07",
            needs=_LOG_DIRS,
            levels=("base",),
        )
        for which in _BOTH
    ),
    *(
        replica_state_event(
            f"log-dir-event-of-a-{which}-lost",
            title,
            partial(event_lost, which),
            16,
            "RSE-30",
            needs={*_LOG_DIRS, Capability.LINKS, Capability.KILL},
        )
        for which, title in zip(
            _BOTH,
            (
                "A leader whose event is lost stays leader until it is started anew",
                "A follower whose event is lost leaves the ISR by its leader",
            ),
            strict=True,
        )
    ),
    replica_state_event(
        "controller-dies-with-the-event",
        "A controller that dies with an event in its hands: the next one learns of the replica by itself",
        controller_dies,
        18,
        "RSE-31",
        "RSE-21",
        needs={*_LOG_DIRS, Capability.LINKS, Capability.KILL},
    ),
    replica_state_event(
        "late-log-dir-event",
        "An event of a process of before arrives late and does nothing",
        late_event,
        15,
        "RSE-14",
        needs={*_LOG_DIRS, Capability.LINKS, Capability.KILL},
    ),
)
