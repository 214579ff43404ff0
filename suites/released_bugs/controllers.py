"""Controllers that do not resign, depose each other, or forget what they decided."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.released_bugs.bug import ReleasedBug, one_broker, small_cluster
from fencepost.suites.released_bugs.requests import BROKER, ask
from fencepost.suites.scenarios import SCENARIOS

RECREATED = "gone"
ELIGIBLE_LEADERS = "eligible.leader.replicas.version"
"""The feature of KIP-966, which new clusters have since 4.1."""


@ReleasedBug(
    "KAFKA-14616",
    "A topic that is deleted and created again while a broker is down has no replica there",
    kind="controllers",
    loses="The partition stays under-replicated until the broker restarts once more.",
    releases=("apache-kafka:3.6.2", "3.7.1"),
    rule="LIVE-01",
    seconds=60,
)
def recreated_while_away(draft: v.Draft) -> v.Plan:
    """A broker is away while a topic on it is deleted and created again; it must hold the new one when it returns."""
    leader, away, other = draft.roles
    partition = f"{RECREATED}-0"

    def create(name: str) -> v.CreateTopicProbe:
        return v.CreateTopicProbe(as_=name, node=leader, topic=RECREATED, timeout_ms=5000)

    steps: list[v.Step] = [
        create("create"),
        v.IsrIs(as_="held", partition=partition, is_=(leader, away, other)),
        # Records make the brokers write the id of the topic to disk; at acks=1 the deletion takes nothing promised.
        v.Produce(as_="old", topic=RECREATED, records=20, acks=1, idempotent=False),
        v.inject("kill", v.KillParameters(nodes=away)),
        v.BrokerFenced(as_="fenced", node=away),
        v.DeleteTopicProbe(as_="delete", node=leader, topic=RECREATED, timeout_ms=5000),
        create("again"),
        v.IsrIs(as_="new", partition=partition, lacks=away, has=leader),
        v.Heal(as_="return", fault="kill"),
        v.BrokerActive(as_="back", node=away),
    ]
    return draft.plan(steps, "back", topology=small_cluster(draft.target, 3), workload=None)


@ReleasedBug(
    "KAFKA-17642",
    "A voter that was cut off deposes a healthy leader when it comes back (KIP-996)",
    kind="controllers",
    loses="Each brief cut of one controller stops the administration of the cluster for an election.",
    releases=("apache-kafka:3.9.1", "4.1.0"),
    rule="CTRL-02",
    wanted="the claim CTRL-02 of every run, which excuses voters that come back where a release has no Pre-Vote",
    seconds=60,
)
def voter_comes_back(draft: v.Draft) -> v.Plan:
    """The third voter starts anew, so that it follows; it is cut off for many elections, and comes back."""
    third = v.node_name(v.CONTROLLER_IDS[2])
    nodes = [node for node in v.quorum_cluster().nodes if node.name not in map(v.node_name, v.BROKER_IDS[1:])]
    quorum = {"topics": [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]}
    epoch = "topics[0].partitions[0].leader_epoch"
    steps: list[v.Step] = [
        v.inject("crash", v.KillParameters(nodes=third)),
        v.ActiveController(as_="others-lead", is_not=third),
        v.Heal(as_="third-voter", fault="crash"),
        v.Hold(after="third-voter.ended", ms=4000),
        ask("before", "describe_quorum", 0, quorum, binds={"epoch": epoch}),
        v.inject("cut", v.IsolateParameters(nodes=third, from_="controllers")),
        v.Hold(after="cut.proven", ms=15_000),
        v.Heal(as_="mend", fault="cut"),
        v.Hold(after="mend.ended", ms=8000),
        v.TopicCreatedThrough(as_="works", node=BROKER, expect=v.must("LIVE-02")),
        ask("stayed", "describe_quorum", 0, quorum, answer={epoch: "$epoch"}, expect=v.serves("CTRL-02")),
    ]
    return draft.plan(
        steps,
        "stayed",
        topology=v.Topology(nodes=tuple(nodes)),
        topics=[v.topic([BROKER], min_isr=1)],
        workload=None,
        settings=one_broker(),
    )


@ReleasedBug(
    "KAFKA-19964",
    "A controller that knows nothing yet reports a finalized metadata version",
    kind="controllers",
    loses="Tools and nodes take the oldest metadata version for that of the cluster.",
    releases=("apache-kafka:4.3.1", "4.4.0"),
    rule="ADM-03",
    wanted="every node asked for the finalized features at any time",
    seconds=60,
)
def alone_and_unknowing(draft: v.Draft) -> v.Plan:
    """A controller starts without a majority: it cannot know which features are finalized, and must not name any."""
    alone, *others = map(v.node_name, v.CONTROLLER_IDS)
    nodes = [node for node in v.quorum_cluster().nodes if node.name not in map(v.node_name, v.BROKER_IDS[1:])]
    steps: list[v.Step] = [
        v.inject("crash", v.KillParameters(nodes=tuple(others))),
        v.Shutdown(as_="stop", nodes=alone),
        v.Start(as_="start", nodes=alone, until="running"),
        ask(
            "features",
            "api_versions",
            4,
            {"client_software_name": "fencepost", "client_software_version": "1"},
            node=alone,
            answer={"finalized_features_epoch": -1, "finalized_features[].name": []},
            within_ms=15_000,
            expect=v.serves("ADM-03"),
        ),
        v.Heal(as_="restart", fault="crash"),
    ]
    return draft.plan(
        steps,
        "features",
        topology=v.Topology(nodes=tuple(nodes)),
        topics=[v.topic([BROKER], min_isr=1)],
        workload=None,
        settings=one_broker(),
    )


@ReleasedBug(
    "KAFKA-19522",
    "A broker that comes back from a crash leads again while it is still fenced",
    kind="controllers",
    loses="Clients are sent to a leader that serves nothing for as long as the broker takes to start.",
    releases=("apache-kafka:4.0.2", "4.1.0"),
    rule="LEAD-03",
    wanted="eligible leader replicas in random plans of 4.0, and a claim that no fenced broker leads",
    seconds=60,
)
def back_and_fenced(draft: v.Draft) -> v.Plan:
    """The only replica's broker crashes, registers again, and stops there: fenced as it is, it must lead nothing.

    Its log may have lost records in the crash, so it is no eligible leader (KIP-966) but the last one that is known.
    """
    steps: list[v.Step] = [
        v.UpdateFeaturesProbe(
            as_="finalize", node="active-controller", feature=ELIGIBLE_LEADERS, level=1, timeout_ms=8000
        ),
        v.Produce(as_="before", topic="t", records=5, acks="all"),
        v.Bind(as_="before-crash", value=f"broker-epoch:{BROKER}"),
        v.inject("crash", v.KillParameters(nodes=BROKER, back="running")),
        v.BrokerFenced(as_="fenced", node=BROKER),
        v.Heal(as_="restart", fault="crash"),
        v.BrokerEpochAbove(as_="registered", node=BROKER, value="$before-crash"),
        v.inject("stop", v.PauseParameters(nodes=BROKER)),
        # If it was admitted before it stopped, its session ends.
        v.BrokerFenced(as_="still-fenced", node=BROKER),
        v.LeaderIs(as_="leads", partition="t-0", is_=BROKER, within_ms=3000, expect=v.never("LEAD-03")),
        v.Heal(as_="go-on", fault="stop"),
    ]
    return draft.plan(
        steps,
        topology=small_cluster(draft.target),
        topics=[v.topic([BROKER], min_isr=1)],
        workload=None,
        settings=one_broker(),
    )


[_ISOLATED] = (scenario for scenario in SCENARIOS if scenario.slug == "isolated-controller")


@ReleasedBug(
    "KAFKA-15489",
    "An active controller that is cut from the other voters does not resign",
    kind="controllers",
    loses="Topics cannot be created, and brokers follow a controller that decides nothing.",
    releases=("apache-kafka:3.6.2", "3.7.2"),
    rule="LIVE-02",
    found_by="scenario `isolated-controller`",
    seconds=70,
)
def cut_from_the_other_voters(draft: v.Draft) -> v.Plan:
    return _ISOLATED.build(draft)
