"""Bugs that show while a cluster is upgraded, or after it: plans roll nodes from one release or level to another."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.released_bugs.bug import ReleasedBug, asking, small_cluster

CONTROLLER = v.node_name(v.CONTROLLER_IDS[0])
FIRST, SECOND = map(v.node_name, v.BROKER_IDS[:2])
DEADLINE_MS = 300_000


@ReleasedBug(
    "KAFKA-19851",
    "After the upgrade to 4.0 a topic with a setting that was removed there takes no change of settings",
    kind="upgrade",
    loses="No setting of the topic can be changed until the forgotten one is found and deleted.",
    releases=("apache-kafka:3.9.1..4.2.0", "3.9.1..4.2.1"),
    rule="UPG-06",
    wanted="settings that the new release lacks, in random plans of two releases, and changes of others after it",
    seconds=40,
)
def removed_setting(draft: v.Draft) -> v.Plan:
    """A topic has a setting that the new release no longer knows; another one of its settings is changed."""
    steps: list[v.Step] = [
        v.configured("before", FIRST, "t", {"retention.ms": "86400000"}, expect=v.serves("ADM-02")),
        v.Roll(as_="new-controller", node=CONTROLLER, release="new"),
        v.Roll(as_="new-broker", node=FIRST, release="new"),
        v.LeaderIs(as_="back", partition="t-0", is_=FIRST, expect=v.must("UPG-02")),
        v.configured("after", FIRST, "t", {"retention.ms": "172800000"}, expect=v.serves("UPG-06")),
    ]
    return _patient(asking(draft, steps, config={"message.format.version": "2.8"}))


@ReleasedBug(
    "KAFKA-16757",
    "Brokers are fenced for a moment when the metadata version is raised to 3.7",
    kind="upgrade",
    loses="All brokers are out of service at once, when only a new metadata version was asked for.",
    releases=("apache-kafka:3.6.2..3.7.0", "3.6.2..3.7.1"),
    rule="UPG-07",
    found_by="scenario `rolling-upgrade`",
    seconds=50,
)
def finalization_fences(draft: v.Draft) -> v.Plan:
    """The metadata version is raised once all nodes have the new release: nothing else is to happen."""
    steps: list[v.Step] = [
        *(v.Roll(as_=f"new-{node}", node=node, release="new") for node in (CONTROLLER, FIRST, SECOND)),
        v.Converged(as_="upgraded", expect=v.must("UPG-02")),
        *v.features_finalized(FIRST),
    ]
    return _patient(asking(draft, steps, brokers=2))


@ReleasedBug(
    "KAFKA-16992",
    "Transactions fail while brokers of 3.5 and 3.7 run in one cluster",
    kind="upgrade",
    loses="Transactional producers send nothing from the first upgraded broker to the last.",
    releases=("apache-kafka:3.5.2..3.7.0", "3.5.2..3.7.1"),
    rule="UPG-01",
    wanted="the transactional workload and the operation upgrade in one random plan; both exist",
    seconds=50,
)
def transactions_in_a_mixed_cluster(draft: v.Draft) -> v.Plan:
    """The coordinator of a transaction has the old release, and the leader of a partition in it the new one."""
    producers = (
        v.ProducerSpec(name="p1", topic="t", rate=50, transactions=v.TransactionSpec()),
        v.ProducerSpec(name="p2", topic="t", rate=50, transactions=v.TransactionSpec(), start="later"),
    )
    steps: list[v.Step] = [
        v.LeaderIs(as_="leader-ready", partition="t-0", is_=FIRST),
        v.Workload(as_="work", action="start"),
        v.WorkloadAcks(as_="working", more=20),
        v.Workload(as_="enough", action="stop", only=("p1",)),
        v.Roll(as_="new", node="followers:__transaction_state-0", release="new"),
        v.Converged(as_="mixed", expect=v.must("UPG-02")),
        v.Workload(as_="again", action="start", only=("p2",)),
        v.WorkloadAcks(as_="committed", producer="p2", more=50, expect=v.must("UPG-01")),
        v.HealAll(as_="heal"),
        v.Converged(as_="whole", expect=v.must("LIVE-01")),
        v.Workload(as_="stop-work", action="stop"),
    ]
    alone = tuple((broker,) for broker in v.BROKER_IDS[:2])
    plan = draft.plan(
        steps,
        "new",
        framed=False,
        topology=small_cluster(draft.target, 2),
        topics=[v.TopicSpec(name="t", assignments=alone, config={"min.insync.replicas": "1"})],
        workload=v.WorkloadSpec(producers=producers),
        settings=v.NodeSettings(
            broker={
                "offsets.topic.replication.factor": "2",
                "transaction.state.log.replication.factor": "2",
                "transaction.state.log.min.isr": "1",
            }
        ),
    )
    return _patient(plan)


def _patient(plan: v.Plan) -> v.Plan:
    return plan.model_copy(update={"deadline_ms": DEADLINE_MS})
