"""Leaders die, sleep, and come back; epochs are never used twice."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import BrokerActive, BrokerEpochAbove, IsrIs, LeaderEpochAbove, LeaderIs, WorkloadAcks
from harness.plan.injects import InjectKill, InjectPause, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import MetadataProbe, ProduceProbe, ReplicaFetchProbe
from harness.plan.steps import Bind, Heal, Step, ZnodeStep
from suites.building import (
    LIVELY_MS,
    answers,
    cast,
    closing,
    compose,
    losses,
    must,
    never,
    never_serves,
    opening,
    pace,
    topic,
    work_despite_losses,
)
from suites.replication_v2.story import number, replication_v2, saw_a_change, says
from suites.story import Story, TargetFacts

WAITS_MS = 6000
"""KeepInSyncTime of a story that looks at a leader that waits for so long."""
TAKEN = 40
"""An epoch that no partition of a short run reaches by itself."""


def killed(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The next leader has the next epoch; the old one is back as a follower, and stays one."""
    leader, *others = cast(story, seed)
    steps = [
        *opening(leader),
        *_only_the_leader(*others),
        Bind(as_="epoch", value="leader-epoch:t-0"),
        InjectKill(as_="kill", nodes=leader),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("LD-31")),
        LeaderEpochAbove(as_="next", partition="t-0", value="$epoch", within_ms=LIVELY_MS, expect=must("LD-50")),
        *(says(f"told-{broker}", broker, saw_a_change("t-0"), must("LD-20"), after="kill.proven") for broker in others),
        IsrIs(as_="without", partition="t-0", lacks=leader, within_ms=LIVELY_MS, expect=must("DLD-34")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LD-55")),
        Heal(as_="restart", fault="kill"),
        IsrIs(as_="rejoined", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("LD-49")),
        LeaderIs(as_="leads-again", partition="t-0", is_=leader, within_ms=1000, expect=never("LD-45")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, *others])],
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            Acknowledged(by="p1", acks="all", after="moved.ended", before="restart.begun"),
        ],
    )


def _only_the_leader(asked: str, asking: str) -> list[Step]:
    """A follower refuses what only the leader may answer."""
    return [
        ProduceProbe(as_="not-to-a-follower", node=asked, topic="t", acks=1, expect=answers("LD-67", "error:6")),
        ReplicaFetchProbe(
            as_="not-from-a-follower", node=asked, topic="t", broker=asking, expect=answers("LD-79", "error:6")
        ),
    ]


def waits(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A new leader waits for the other follower, which lives and cannot reach it, until KeepInSyncTime has passed.

    Till then it answers followers and no client.
    """
    leader, *others = cast(story, seed)
    one, two = others
    timing = pace(target, lag_ms=WAITS_MS)
    steps = [
        *opening(leader),
        InjectStall(as_="apart", from_=one, to=two),
        InjectStall(as_="apart-too", from_=two, to=one),
        InjectKill(as_="kill", nodes=leader),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("LD-50")),
        Bind(as_="new", node="leader:t-0"),
        ProduceProbe(as_="not-yet", node="$new", topic="t", acks=1, repeat=5, expect=answers("DLD-06", "error:6")),
        IsrIs(as_="at-last", partition="t-0", is_="$new", within_ms=LIVELY_MS, expect=must("LD-52")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LD-55")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, *others], min_isr=1)],
        steps=steps,
        coverage=[
            FaultProven(fault="apart"),
            FaultProven(fault="apart-too"),
            FaultProven(fault="kill"),
            StepDone(step="not-yet"),
            Acknowledged(by="p1", acks="all", after="at-last.ended"),
        ],
    )


def paused(story: Story, target: TargetFacts, seed: int) -> Plan:
    """It sleeps past its session, with requests in its sockets; awake it has lost all that was its own."""
    leader, *others = cast(story, seed)
    timing = pace(target)
    steps = [
        *opening(leader),
        Bind(as_="broker-epoch", value=f"broker-epoch:{leader}"),
        InjectPause(as_="sleep", nodes=leader),
        *(
            ProduceProbe(
                as_=f"asleep-{acks}",
                node=leader,
                topic="t",
                acks=acks,
                background=True,
                timeout_ms=6 * timing.session_ms,
                expect=never_serves("DLD-15"),
            )
            for acks in (1, "all")
        ),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("LD-12")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LD-55")),
        Heal(as_="wake", fault="sleep"),
        BrokerEpochAbove(as_="anew", node=leader, value="$broker-epoch", within_ms=LIVELY_MS, expect=must("DLD-16")),
        BrokerActive(as_="returned", node=leader, within_ms=LIVELY_MS, expect=must("DLD-16")),
        IsrIs(as_="rejoined", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("LD-49")),
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
            FaultProven(fault="sleep"),
            StepDone(step="asleep-1"),
            StepDone(step="asleep-all"),
            Acknowledged(by="p1", acks="all", after="moved.ended"),
        ],
    )


def dies_young(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Two leaders die one after the other, the second as soon as it is one: the third has a later epoch than both."""
    first, *others = cast(story, seed)
    steps = [
        *opening(first),
        Bind(as_="epoch", value="leader-epoch:t-0"),
        InjectKill(as_="first-dies", nodes=first),
        LeaderIs(as_="moved", partition="t-0", is_not=first, within_ms=LIVELY_MS, expect=must("LD-31")),
        Bind(as_="second", node="leader:t-0"),
        InjectKill(as_="second-dies", nodes="$second"),
        LeaderIs(
            as_="moved-again", partition="t-0", is_not=(first, "$second"), within_ms=LIVELY_MS, expect=must("LD-30")
        ),
        LeaderEpochAbove(as_="later", partition="t-0", value="$epoch", within_ms=LIVELY_MS, expect=must("LD-03")),
        Heal(as_="second-returns", fault="second-dies"),
        Heal(as_="first-returns", fault="first-dies"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([first, *others])],
        steps=steps,
        workload=work_despite_losses(target),
        deviations=losses(target, "may"),
        coverage=[
            FaultProven(fault="first-dies"),
            FaultProven(fault="second-dies"),
            StepDone(step="later"),
            Acknowledged(by="p1", acks="all", after="first-returns.ended"),
        ],
    )


def between_its_writes(story: Story, target: TargetFacts, seed: int) -> Plan:
    """What a leader leaves that took its epoch and died before it said so: the epoch counts as used.

    Nobody who could lead runs while the epoch is written, in the place of that leader.
    """
    leader, follower, other = cast(story, seed)
    ids = ",".join(str(number(broker)) for broker in (leader, follower))
    steps = [
        *opening(other, partition="t-0"),
        LeaderIs(as_="led", partition="u-0", is_=leader, within_ms=LIVELY_MS),
        IsrIs(as_="in-sync", partition="u-0", is_=(leader, follower), within_ms=LIVELY_MS),
        InjectKill(as_="both-die", nodes=(leader, follower)),
        LeaderIs(as_="leaderless", partition="u-0", is_="none", within_ms=LIVELY_MS, expect=must("LD-12")),
        ZnodeStep(as_="taken", action="set", path="/brokers/topics/u/0/ISR", data=f'{{"isr":[{ids}],"epoch":{TAKEN}}}'),
        Heal(as_="back", fault="both-die"),
        LeaderEpochAbove(as_="never-twice", partition="u-0", value=TAKEN, within_ms=LIVELY_MS, expect=must("DLD-04")),
        *closing(),
        MetadataProbe(as_="known", node=other, topic="u", expect=answers("DLD-19", "served")),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([other], min_isr=1), topic([leader, follower], name="u", min_isr=1)],
        steps=steps,
        coverage=[FaultProven(fault="both-die"), StepDone(step="taken"), StepDone(step="never-twice")],
    )


def preferred_returns(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Leadership goes back by itself, when the preferred replica has caught up; nobody asks for it."""
    leader, *others = cast(story, seed)
    returns: list[Step] = [
        IsrIs(as_="rejoined", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("LD-71")),
        LeaderIs(as_="leads-again", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("LD-73")),
        WorkloadAcks(as_="under-load", more=20, within_ms=LIVELY_MS, expect=must("DLD-21")),
    ]
    steps = [
        *opening(leader),
        InjectKill(as_="kill", nodes=leader),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("LD-31")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LD-55")),
        Heal(as_="restart", fault="kill"),
        *returns,
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, *others])],
        steps=steps,
        coverage=[FaultProven(fault="kill"), Acknowledged(by="p1", acks="all", after="leads-again.ended")],
    )


def outside_the_isr(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower that left the ISR is all there is when its leader dies: nobody leads before the leader is back."""
    leader, follower, _ = cast(story, seed)
    timing = pace(target)
    steps = [
        *opening(leader),
        InjectStall(as_="behind", from_=follower, to=leader),
        IsrIs(as_="dropped", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("LD-70")),
        WorkloadAcks(as_="without-it", more=20, within_ms=LIVELY_MS, expect=must("LD-70")),
        InjectKill(as_="kill", nodes=leader),
        LeaderIs(as_="leaderless", partition="t-0", is_="none", within_ms=LIVELY_MS, expect=must("LD-12")),
        LeaderIs(
            as_="leads", partition="t-0", is_=follower, within_ms=2 * timing.election_ms + 1000, expect=never("LD-28")
        ),
        Heal(as_="restart", fault="kill"),
        LeaderIs(as_="leads-again", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("DLD-22")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, follower], min_isr=1)],
        steps=steps,
        coverage=[
            FaultProven(fault="behind"),
            FaultProven(fault="kill"),
            StepDone(step="leads-again"),
            Acknowledged(by="p1", acks="all", after="dropped.ended", before="kill.injected"),
        ],
    )


STORIES = (
    replication_v2(
        "v2-outside-the-isr",
        "A replica outside the ISR does not lead, also if nobody else is left",
        outside_the_isr,
        13,
        "LD-22",
        needs={Capability.LINKS, Capability.KILL},
    ),
    replication_v2(
        "v2-leader-killed",
        "kill -9 of a leader: another of the ISR leads at the next epoch, and keeps to it",
        killed,
        10,
        "LD-01",
        "LD-03",
        "LD-06",
        "LD-28",
        "LD-29",
        "LD-30",
        "DLD-05",
        needs={Capability.KILL},
    ),
    replication_v2(
        "v2-leader-paused",
        "A leader that sleeps past its session acknowledges nothing that was sent to it meanwhile",
        paused,
        11,
        "LD-24",
        "LD-26",
        "LD-47",
        needs={Capability.PAUSE},
    ),
    replication_v2(
        "v2-leader-dies-young",
        "Two leaders die in quick turn: epochs only grow",
        dies_young,
        13,
        "LD-50",
        "LD-52",
        needs={Capability.KILL},
    ),
    replication_v2(
        "v2-epoch-taken-and-not-told",
        "A leader that died between its two writes: its epoch is never used again",
        between_its_writes,
        12,
        "LD-03",
        "LD-13",
        "LD-44",
        needs={Capability.KILL},
    ),
    replication_v2(
        "v2-new-leader-waits",
        "A new leader waits for who lives, and serves no client before",
        waits,
        16,
        "LD-53",
        needs={Capability.LINKS, Capability.KILL},
    ),
    replication_v2(
        "v2-preferred-leader-returns",
        "Leadership goes back to the preferred replica when it is in sync again",
        preferred_returns,
        12,
        "DLD-07",
        needs={Capability.KILL},
        levels=("balancing",),
    ),
)
