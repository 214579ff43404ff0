"""kill -9, SIGSTOP and lost sessions: of the controller, of a leader, of all brokers in turn."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import (
    ActiveController,
    BrokerActive,
    BrokerEpochAbove,
    Converged,
    IsrIs,
    LeaderEpochAbove,
    LeaderIs,
    MetadataFrom,
    Registered,
    TopicCreatedThrough,
    WorkloadAcks,
    Znode,
)
from harness.plan.injects import InjectCut, InjectKill, InjectPause
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import ControlledShutdownProbe, CreateTopicProbe
from harness.plan.steps import Bind, Heal, Step
from suites.building import (
    LIVELY_MS,
    answers,
    cast,
    closing,
    compose,
    losses,
    must,
    never,
    opening,
    pace,
    topic,
    work_despite_losses,
)
from suites.internals.stories.split_brain import refused_at_old_epoch
from suites.internals.story import internals
from suites.story import AROUND_ZOOKEEPER, LEADER_DRIVEN, Story, TargetFacts
from suites.znodes import elect_preferred

LAG_MS = 8000


def leader_killed(story: Story, target: TargetFacts, seed: int) -> Plan:
    """And back: the leadership goes where the first replica says when somebody asks for it."""
    leader, follower, controller = cast(story, seed)
    steps = [
        *opening(leader),
        InjectKill(as_="kill", nodes=leader),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("INT-37")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("INT-33")),
        Heal(as_="restart", fault="kill"),
        IsrIs(as_="rejoined", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("INT-26")),
        elect_preferred("prefer", "t-0"),
        LeaderIs(as_="leads-again", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("INT-39")),
        _gone("asked", "/admin/preferred_replica_election", "DINT-21"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[FaultProven(fault="kill"), Acknowledged(by="p1", acks="all", after="leads-again.ended")],
    )


def _gone(as_: str, path: str, requirement: str) -> Step:
    return Znode(as_=as_, path=path, exists=False, within_ms=LIVELY_MS, expect=must(requirement))


def controller_killed(story: Story, target: TargetFacts, seed: int) -> Plan:
    return _controller(story, target, seed, InjectKill(as_="fault", nodes="$old"))


def controller_paused(story: Story, target: TargetFacts, seed: int) -> Plan:
    return _controller(story, target, seed, InjectPause(as_="fault", nodes="$old"))


def controller_cut_off(story: Story, target: TargetFacts, seed: int) -> Plan:
    return _controller(story, target, seed, InjectCut(as_="fault", from_="$old", to="zookeeper"))


def _controller(story: Story, target: TargetFacts, seed: int, fault: Step) -> Plan:
    """The next one knows what the old one knew; the old one, if it lives, comes back as a mere broker."""
    leader, follower, controller = cast(story, seed)
    steps = [
        *opening(leader),
        Bind(as_="old", node="active-controller"),
        Bind(as_="old-epoch", value="controller-epoch"),
        Bind(as_="old-broker-epoch", value=f"broker-epoch:{controller}"),
        CreateTopicProbe(
            as_="promised", node="$old", topic="promised", timeout_ms=10_000, expect=answers("INT-03", "served")
        ),
        fault,
        ActiveController(as_="elected", is_not="$old", within_ms=LIVELY_MS, expect=must("INT-66")),
        *(
            TopicCreatedThrough(as_=f"create-{broker}", node=broker, within_ms=LIVELY_MS, expect=must("INT-05"))
            for broker in (leader, follower)
        ),
        MetadataFrom(as_="kept", node=follower, partition="promised-0", within_ms=LIVELY_MS, expect=must("INT-06")),
        *refused_at_old_epoch("past", leader, "$old-epoch"),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="mend", fault="fault"),
        BrokerActive(as_="returned", node=controller, within_ms=LIVELY_MS, expect=must("INT-51")),
        BrokerEpochAbove(
            as_="anew", node=controller, value="$old-broker-epoch", within_ms=LIVELY_MS, expect=must("INT-51")
        ),
        ActiveController(as_="rules-again", is_=controller, within_ms=500, expect=never("INT-62")),
        # Else its return to the ISR, or what brokers are told of that, would be taken for the probe's doing.
        Converged(as_="settled", within_ms=LIVELY_MS, expect=must("LIVE-01")),
        ControlledShutdownProbe(
            as_="not-controller",
            node=controller,
            broker=follower,
            expect=answers("INT-62", "error:[11, 41]"),
            unchanged=("brokers", "t-0"),
        ),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="fault"),
            StepDone(step="kept"),
            StepDone(step="not-controller"),
            Acknowledged(by="p1", acks="all", after="elected.ended"),
        ],
    )


def in_turn(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A replica that stays in the ISR while it is down may have dropped what it had, and lead at the next kill
    (LF-01)."""
    leader, follower, controller = cast(story, seed)
    gone = must("LD-10" if target.leader_driven else "INT-43")
    steps = [*opening(leader)]
    for broker in (follower, leader, controller):
        steps += [
            InjectKill(as_=f"kill-{broker}", nodes=broker),
            Registered(as_=f"gone-{broker}", node=broker, is_=False, within_ms=LIVELY_MS, expect=gone),
            Heal(as_=f"restart-{broker}", fault=f"kill-{broker}"),
            Converged(as_=f"whole-{broker}", within_ms=LIVELY_MS, expect=must("LIVE-01")),
        ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower, controller])],
        steps=[*steps, *closing()],
        coverage=[
            *(FaultProven(fault=f"kill-{broker}") for broker in (follower, leader, controller)),
            Acknowledged(by="p1", acks="all", after=f"kill-{controller}.proven"),
        ],
        workload=work_despite_losses(target),
        deviations=losses(target, "may"),
    )


def bounced_inside(story: Story, target: TargetFacts, seed: int) -> Plan:
    return _bounced(story, target, seed, [], session_ms=4000)


def bounced_beyond(story: Story, target: TargetFacts, seed: int) -> Plan:
    follower = cast(story, seed)[1]
    gone = Registered(as_="gone", node=follower, is_=False, within_ms=LIVELY_MS, expect=must("INT-43"))
    left = IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=LIVELY_MS, expect=must("INT-28"))
    return _bounced(story, target, seed, [gone, left], session_ms=None)


def _bounced(story: Story, target: TargetFacts, seed: int, away: list[Step], session_ms: int | None) -> Plan:
    """A follower dies and is back: inside its session the new process waits for the old one's znode to go.

    Either way the partition has a version that its earlier process never saw. The lag time is long, so that it is the
    controller that takes the follower out of the ISR.
    """
    leader, follower, controller = cast(story, seed)
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{follower}"),
        Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        InjectKill(as_="kill", nodes=follower, back="running"),
        *away,
        Heal(as_="restart", fault="kill"),
        BrokerEpochAbove(as_="anew", node=follower, value="$epoch", within_ms=LIVELY_MS, expect=must("DINT-17")),
        BrokerActive(as_="active", node=follower, within_ms=LIVELY_MS, expect=must("INT-25")),
        LeaderEpochAbove(
            as_="new-version", partition="t-0", value="$leader-epoch", within_ms=LIVELY_MS, expect=must("DINT-11")
        ),
        ControlledShutdownProbe(
            as_="predecessor",
            node="active-controller",
            broker=follower,
            broker_epoch="$epoch",
            expect=answers("DINT-24", "error:77"),
            unchanged=("brokers",),
        ),
        IsrIs(as_="rejoined", partition="t-0", has=follower, within_ms=LIVELY_MS, expect=must("INT-26")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, session_ms=session_ms, lag_ms=LAG_MS),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            StepDone(step="predecessor"),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


_TAKEN_OVER = ("INT-06", "INT-08", "INT-09", "INT-29", "INT-46", "INT-63", "INT-64", "INT-65")

STORIES = (
    internals(
        "leader-killed",
        "kill -9 of a leader: a member of the ISR leads, and the first replica again when asked for",
        leader_killed,
        11,
        "INT-27",
        "INT-28",
        "INT-54",
        "INT-55",
        "DINT-13",
        needs={Capability.KILL},
    ),
    internals(
        "controller-killed",
        "kill -9 of the controller: another broker takes over what it knew",
        controller_killed,
        12,
        *_TAKEN_OVER,
        needs={Capability.KILL},
    ),
    internals(
        "controller-paused",
        "A controller that sleeps past its session wakes as a mere broker",
        controller_paused,
        12,
        *_TAKEN_OVER,
        needs={Capability.PAUSE},
    ),
    internals(
        "controller-cut-from-zookeeper",
        "A controller that does not reach ZooKeeper resigns, and comes back as a mere broker",
        controller_cut_off,
        12,
        *_TAKEN_OVER,
        needs={Capability.LINKS},
    ),
    internals(
        "brokers-killed-in-turn",
        "kill -9 of every broker in turn, controller included",
        in_turn,
        20,
        "INT-41",
        "INT-53",
        "LD-03",
        "LD-45",
        needs={Capability.KILL},
        dialects=AROUND_ZOOKEEPER | LEADER_DRIVEN,
    ),
    internals(
        "bounce-inside-the-session",
        "A broker that dies and is back inside its session registers when the old znode has gone",
        bounced_inside,
        12,
        "DINT-09",
        "DINT-24",
        needs={Capability.KILL},
    ),
    internals(
        "bounce-beyond-the-session",
        "A broker that dies and is back after its session finds new versions on its partitions",
        bounced_beyond,
        11,
        "DINT-08",
        "DINT-09",
        needs={Capability.KILL},
    ),
)
