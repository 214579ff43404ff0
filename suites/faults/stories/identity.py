"""Processes that claim an id, a directory or a cluster that is not theirs."""

from __future__ import annotations

import random

from faults.capabilities import Capability
from harness.plan.base import After, Expect, Level
from harness.plan.conditions import ActiveController, BrokerEpochAbove, LeaderIs, Logged, NodeExited, WorkloadAcks
from harness.plan.injects import InjectChangedId, InjectDuplicate, InjectForeignCluster, InjectSwapped
from harness.plan.model import Acknowledged, FaultProven, NodeSpec, Plan
from harness.plan.steps import Bind, Heal, Start, Step
from suites.building import (
    CONTROLLER_IDS,
    DUPLICATE_INDEX,
    LIVELY_MS,
    cast,
    closing,
    cluster,
    compose,
    duplicate_of,
    losses,
    must,
    never,
    node,
    opening,
    pace,
    topic,
    work_despite_losses,
)
from suites.faults.story import everywhere
from suites.story import WITHOUT_ZOOKEEPER, Story, TargetFacts

ENDS_WITHIN_MS = 15_000
"""For a process to meet what another wrote into its files."""


def swapped(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Leader and follower find each other's disks, and both end before anybody takes one for the other."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        InjectSwapped(as_="swap", nodes=(leader, follower)),
        *(_refused(f"refused-{broker}", broker, "DIR-02") for broker in (leader, follower)),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "swap")


def foreign_cluster(story: Story, target: TargetFacts, seed: int) -> Plan:
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{follower}"),
        InjectForeignCluster(as_="mount", node=follower),
        *_not_let_in(target, follower),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "mount")


def _not_let_in(target: TargetFacts, broker: str) -> list[Step]:
    """It ends; or, where it is known to go on (AK-10), it is refused and stays outside."""
    if not target.differs("AK-10"):
        return [_refused("refused", broker, "DIR-01")]
    refused = must("DIR-01").model_copy(update={"difference": "AK-10"})
    return [
        Logged(
            as_="refused",
            node=broker,
            says="INCONSISTENT_CLUSTER_ID",
            after=After(event="mount.injected"),
            within_ms=LIVELY_MS,
            expect=refused,
        ),
        BrokerEpochAbove(
            as_="let-in",
            node=broker,
            value="$epoch",
            within_ms=2 * pace(target).lease_ms,
            expect=never("DIR-01"),
        ),
    ]


def changed_id(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower is configured with the id of the leader, which runs."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        InjectChangedId(as_="renumber", node=follower, id=int(leader.removeprefix("node-"))),
        _refused("refused", follower, "DIR-02"),
        *_undisturbed(target, leader),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "renumber")


def shared_directory(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A second process for the leader's id is started on the leader's own disk."""
    leader, follower, other = cast(story, seed)
    newcomer = duplicate_of(leader, "same")
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        InjectDuplicate(as_="second", node=newcomer.name),
        *_one_of_two(target, leader, newcomer.name),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "second", newcomer)


def duplicate_controller(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A second process for the id of a controller, on an empty disk, follows the quorum beside the first.

    Nobody asks it for its vote, since the voters are known by their addresses; and as long as the leader lives it
    stands for nothing.
    """
    leader, follower, other = cast(story, seed)
    elder = node(random.Random(f"{seed}/{story.slug}/controller").choice(CONTROLLER_IDS))
    newcomer = NodeSpec(
        name=f"{elder}b",
        id=int(elder.removeprefix("node-")),
        index=DUPLICATE_INDEX + int(elder.removeprefix("node-")),
        roles=("controller",),
        start="later",
        duplicate_of=elder,
    )
    steps = [
        *opening(leader),
        InjectDuplicate(as_="second", node=newcomer.name),
        WorkloadAcks(as_="goes-on", more=100, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        ActiveController(as_="led", within_ms=LIVELY_MS, expect=must("LIVE-02")),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "second", newcomer)


def _refused(name: str, node: str, requirement: str) -> Step:
    return NodeExited(as_=name, node=node, within_ms=LIVELY_MS, expect=must(requirement))


def _one_of_two(target: TargetFacts, leader: str, newcomer: str) -> list[Step]:
    """The second ends and the first goes on; but what the second does to the files of the first may end that (AK-11),
    and if it does so soon enough, nothing keeps the second from running on."""
    if not target.differs("AK-11"):
        return [_refused("refused", newcomer, "DIR-03"), *_undisturbed(target, leader)]
    may = Expect(level=Level.MAY, requirement="DIR-03", difference="AK-11")
    return [
        NodeExited(as_="ended", node=leader, within_ms=ENDS_WITHIN_MS, expect=may),
        Heal(as_="alone", fault="second"),
        Start(as_="again", nodes=leader),
    ]


def _undisturbed(target: TargetFacts, leader: str) -> list[Step]:
    """The leader, whose id was claimed, is not registered anew, and leads on."""
    patience_ms = 2 * pace(target).lease_ms
    return [
        BrokerEpochAbove(as_="ousted", node=leader, value="$epoch", within_ms=patience_ms, expect=never("DIR-03")),
        LeaderIs(as_="leads-on", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("DIR-03")),
    ]


def _told(
    story: Story,
    target: TargetFacts,
    seed: int,
    replicas: list[str],
    steps: list[Step],
    fault: str,
    *more: NodeSpec,
) -> Plan:
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=cluster(target, replicas[-1], more=more),
        topics=[topic(replicas)],
        workload=work_despite_losses(target),
        steps=steps,
        deviations=losses(target, "may"),
        coverage=[FaultProven(fault=fault), Acknowledged(by="p1", acks="all", after="heal.ended")],
    )


STORIES = (
    everywhere(
        "swapped-directories",
        "Two brokers that find each other's disks do not start",
        swapped,
        10,
        "DIR-02",
        needs={Capability.IDENTITY},
    ),
    everywhere(
        "foreign-cluster",
        "A broker does not start on the disk of another cluster",
        foreign_cluster,
        8,
        "DIR-01",
        needs={Capability.IDENTITY},
    ),
    everywhere(
        "changed-id",
        "A broker does not start on a disk that says another id than its configuration",
        changed_id,
        10,
        "DIR-02",
        needs={Capability.IDENTITY},
    ),
    everywhere(
        "shared-directory",
        "A second process on the disk of a broker that runs ends, and the first goes on",
        shared_directory,
        10,
        "DIR-03",
        needs={Capability.DUPLICATE},
    ),
    everywhere(
        "duplicate-controller",
        "A second process for the id of a controller does no harm while the quorum has its leader",
        duplicate_controller,
        10,
        "LIVE-02",
        needs={Capability.DUPLICATE},
        dialects=WITHOUT_ZOOKEEPER,
    ),
)
