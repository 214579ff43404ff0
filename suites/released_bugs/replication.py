"""Replicas that are counted in, counted on, or left behind."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.released_bugs.bug import ReleasedBug, small_cluster
from fencepost.suites.scenarios import SCENARIOS

FIRST, SECOND, THIRD = map(v.node_name, v.BROKER_IDS)
LAG_MS, SESSION_MS = 1500, 20_000


@ReleasedBug(
    "KAFKA-13091",
    "The high watermark stays behind when the leader shrinks the ISR",
    kind="replication",
    loses="A record at acks=all times out although every replica in sync has it.",
    releases=("apache-kafka-zk:3.0.2", "3.1.0"),
    rule="HW-05",
    wanted="two replicas, min.insync.replicas=1, and a client that waits for a single record",
    seconds=60,
)
def alone_in_the_isr(draft: v.Draft) -> v.Plan:
    """Both followers stop; their sessions last, so the leader itself takes them out of the ISR.

    One record waits for it, and nothing else happens in the partition.
    """
    leader, *followers = draft.roles
    steps: list[v.Step] = [
        v.Produce(as_="before", topic="t", records=5, acks="all"),
        v.inject("stop", v.PauseParameters(nodes=tuple(followers))),
        v.produced_at("one-record", leader, "all", v.serves("HW-05"), timeout_ms=15_000),
        v.Heal(as_="go-on", fault="stop"),
    ]
    return draft.timed(session_ms=SESSION_MS, lag_ms=LAG_MS).plan(
        steps,
        "one-record",
        topology=v.zookeeper_cluster(controller=leader),
        topics=[v.topic([leader, *followers], min_isr=1)],
        workload=None,
    )


def _logs_on(name: str, node: str, topics: list[str], requirement: str | None = None) -> v.ApiProbe:
    return v.described_log_dirs(
        name,
        node,
        v.serves(requirement) if requirement else None,
        {"results[].topics[name=t].name": topics},
        version=2,
        within_ms=15_000,
    )


@ReleasedBug(
    "KAFKA-13972",
    "A cancelled reassignment leaves the replica on the broker that was to be added",
    kind="ISR",
    loses="Disk space is lost, and the topic cannot be created there again.",
    releases=("apache-kafka-zk:3.4.0", "3.4.1"),
    rule="ADM-05",
    wanted="reassignments that are cancelled in random plans, and a claim on what lies on the disks at the end",
    seconds=60,
)
def cancelled_reassignment(draft: v.Draft) -> v.Plan:
    """The new replica cannot fetch, so the reassignment waits until it is cancelled."""
    steps: list[v.Step] = [
        v.Produce(as_="before", topic="t", records=50, acks=1, idempotent=False),
        v.inject("hush", v.StallParameters(from_=THIRD, to=FIRST)),
        v.ReassignProbe(as_="move", node="active-controller", partition="t-0", to=(FIRST, THIRD), timeout_ms=5000),
        _logs_on("added", THIRD, ["t"]),
        v.ReassignProbe(as_="cancel", node="active-controller", partition="t-0", timeout_ms=5000),
        v.AssignmentIs(as_="as-before", partition="t-0", is_=(FIRST, SECOND)),
        v.Heal(as_="go-on", fault="hush"),
        _logs_on("removed", THIRD, [], "ADM-05"),
    ]
    return draft.plan(
        steps,
        "removed",
        topology=v.zookeeper_cluster(controller=SECOND),
        topics=[v.topic([FIRST, SECOND], min_isr=1)],
        workload=None,
    )


@ReleasedBug(
    "KAFKA-19975",
    "A reassignment that adds a replica waits for another one that is dead",
    kind="ISR",
    loses="The reassignment does not end before the dead broker is back.",
    releases=("apache-kafka:4.2.1", "4.3.0"),
    rule="ADM-05",
    wanted="reassignments that add a replica while another one is dead, with the claim that they end",
    seconds=60,
)
def dead_replica_kept(draft: v.Draft) -> v.Plan:
    """A replica is added to the assignment while another one, which stays, is dead."""
    steps: list[v.Step] = [
        v.inject("kill", v.KillParameters(nodes=SECOND)),
        v.BrokerFenced(as_="fenced", node=SECOND),
        v.ReassignProbe(as_="grow", node=FIRST, partition="t-0", to=(FIRST, SECOND, THIRD), timeout_ms=5000),
        v.IsrIs(as_="caught-up", partition="t-0", has=THIRD),
        v.ask(
            "ended",
            FIRST,
            "list_partition_reassignments",
            {"timeout": 4000, "topics": None},
            v.serves("ADM-05"),
            answer={"topics": []},
            within_ms=15_000,
        ),
    ]
    return draft.plan(
        steps,
        "ended",
        topology=small_cluster(draft.target, 3),
        topics=[v.topic([FIRST, SECOND], min_isr=1)],
        workload=None,
    )


[_STALE] = (scenario for scenario in SCENARIOS if scenario.slug == "stale-requests")


@ReleasedBug(
    "KAFKA-15221",
    "A fetch that a follower sent before its restart lets it into the ISR",
    kind="ISR",
    loses="A replica without the records counts as in sync; they are lost when it leads.",
    releases=("apache-kafka:3.6.2", "3.7.1"),
    rule="D631-16",
    found_by="scenario `stale-requests`",
    seconds=90,
)
def fetch_of_an_earlier_process(draft: v.Draft) -> v.Plan:
    return _STALE.build(draft)
