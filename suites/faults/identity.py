"""Processes that claim an id, a directory or a cluster that is not theirs."""

from __future__ import annotations

import random

from fencepost.suites import vocabulary as v

ENDS_WITHIN_MS = 15_000
"""The bound within which a process meets what another wrote into its files."""


@v.fault_scenario("swapped-directories", "Two brokers whose disks are swapped do not start", seconds=10)
def swapped(draft: v.Draft) -> v.Plan:
    """Leader and follower find each other's disks, and both end before any node takes one for the other."""
    leader, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.inject("swap", v.SwappedParameters(nodes=(leader, follower))),
        *(_refused(f"refused-{broker}", broker, "DIR-02") for broker in (leader, follower)),
    ]
    return _plan(draft, steps)


@v.fault_scenario("foreign-cluster", "A broker does not start on the disk of another cluster", seconds=8)
def foreign_cluster(draft: v.Draft) -> v.Plan:
    _, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{follower}"),
        v.inject("mount", v.ForeignClusterParameters(node=follower)),
        *_not_let_in(draft.target, follower),
    ]
    return _plan(draft, steps)


def _not_let_in(target: v.TargetFacts, broker: str) -> list[v.Step]:
    """The broker ends; on a target where it is known to go on (AK-10), it is refused and stays outside."""
    if not target.differs("AK-10"):
        return [_refused("refused", broker, "DIR-01", "D631-35")]
    refused = v.must("DIR-01").model_copy(update={"difference": "AK-10"})
    return [
        v.Logged(
            as_="refused",
            node=broker,
            says="INCONSISTENT_CLUSTER_ID",
            after=v.After(event="mount.injected"),
            expect=refused,
        ),
        v.BrokerEpochAbove(
            as_="let-in",
            node=broker,
            value="$epoch",
            within_ms=2 * v.scaled_timing(target).lease_ms,
            expect=v.never("DIR-01"),
        ),
    ]


@v.fault_scenario(
    "changed-id", "A broker does not start on a disk that holds another id than its configuration", seconds=10
)
def changed_id(draft: v.Draft) -> v.Plan:
    """A follower is configured with the id of the leader, which runs."""
    leader, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        v.inject("renumber", v.ChangedIdParameters(node=follower, id=v.node_id(leader))),
        _refused("refused", follower, "DIR-02"),
        *_undisturbed(draft.target, leader),
    ]
    return _plan(draft, steps)


@v.fault_scenario(
    "shared-directory", "A second process on the disk of a running broker ends, and the first runs on", seconds=10
)
def shared_directory(draft: v.Draft) -> v.Plan:
    """A second process for the leader's id is started on the leader's own disk."""
    leader = draft.leader
    duplicate = v.duplicate_of(leader, "same")
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        v.inject("second", v.DuplicateParameters(node=duplicate.name)),
        *_one_of_two(draft.target, leader, duplicate.name),
    ]
    return _plan(draft, steps, duplicate)


@v.fault_scenario(
    "duplicate-controller",
    "A second process with a controller's id does no harm while the quorum has its leader",
    seconds=10,
    dialects=v.WITHOUT_ZOOKEEPER,
)
def duplicate_controller(draft: v.Draft) -> v.Plan:
    """A second process for the id of a controller, on an empty disk, follows the quorum beside the first.

    No controller asks it for its vote, since voters are known by their addresses. It stands for no election while the
    leader lives.
    """
    original = v.node_name(random.Random(f"{draft.seed}/{draft.scenario.slug}/controller").choice(v.CONTROLLER_IDS))
    duplicate = v.duplicate_of(original)
    steps: list[v.Step] = [
        v.inject("second", v.DuplicateParameters(node=duplicate.name)),
        v.goes_on(more=100),
        v.ActiveController(as_="led", expect=v.must("LIVE-02")),
    ]
    return _plan(draft, steps, duplicate)


def _refused(name: str, node: str, *requirements: str) -> v.Step:
    return v.NodeExited(as_=name, node=node, expect=v.must(*requirements))


def _one_of_two(target: v.TargetFacts, leader: str, duplicate: str) -> list[v.Step]:
    """The second process ends and the first goes on.

    On a target that lists AK-11, what the second does to the files of the first may end the first; if that happens
    soon enough, the second runs on.
    """
    if not target.differs("AK-11"):
        return [_refused("refused", duplicate, "DIR-03"), *_undisturbed(target, leader)]
    may = v.Expect(level=v.Level.MAY, requirement="DIR-03", difference="AK-11")
    return [
        v.NodeExited(as_="ended", node=leader, within_ms=ENDS_WITHIN_MS, expect=may),
        v.Heal(as_="alone", fault="second"),
        v.Start(as_="again", nodes=leader),
    ]


def _undisturbed(target: v.TargetFacts, leader: str) -> list[v.Step]:
    """The leader, whose id was claimed, is not registered again, and leads on."""
    timeout_ms = 2 * v.scaled_timing(target).lease_ms
    return [
        v.BrokerEpochAbove(as_="ousted", node=leader, value="$epoch", within_ms=timeout_ms, expect=v.never("DIR-03")),
        v.LeaderIs(as_="leads-on", partition="t-0", is_=leader, expect=v.must("DIR-03")),
    ]


def _plan(draft: v.Draft, steps: list[v.Step], *more: v.NodeSpec) -> v.Plan:
    topology = v.smallest_cluster(draft.target, draft.roles[-1], more=more)
    return draft.plan(steps, v.acknowledged("heal.ended"), topology=topology, may_lose=True)
