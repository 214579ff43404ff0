"""ZooKeeper loses its leader, or its quorum, or has a leader that is cut off."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

SESSION_MS = 6000
"""Long enough for an ensemble to recover within a session, also on a busy machine."""


@v.internals_scenario(
    "ensemble-without-quorum",
    "While ZooKeeper has no quorum brokers serve on, nothing changes, and sessions live on",
    seconds=14,
    dialects=v.ZOOKEEPER_MODE | v.LEADER_DRIVEN,
)
def without_quorum(draft: v.Draft) -> v.Plan:
    controller = draft.roles[-1]
    meanwhile: list[v.Step] = [
        v.CreateTopicProbe(
            as_="nothing-changes",
            node=controller,
            topic="impossible",
            timeout_ms=700,
            expect=v.never_serves("DLD-18" if draft.target.leader_driven else "DINT-14"),
        ),
        v.Hold(as_="a-while", after="lost.proven", ms=1500),
        v.Heal(as_="mend", fault="lost"),
    ]
    return _plan(draft, ("zk-1", "zk-2"), meanwhile)


@v.internals_scenario(
    "zookeeper-leader-killed",
    "After kill -9 of ZooKeeper's leader every session goes on with another server",
    seconds=12,
    dialects=v.ZOOKEEPER_MODE | v.LEADER_DRIVEN,
)
def leader_killed(draft: v.Draft) -> v.Plan:
    return _plan(draft, "zookeeper-leader", [])


@v.internals_scenario(
    "zookeeper-leader-unheard",
    "A ZooKeeper leader that is cut off and reports live sessions as expired ends no broker",
    seconds=14,
    levels=("base", "plain"),
    dialects=v.ZOOKEEPER_MODE | v.LEADER_DRIVEN,
)
def leader_unheard(draft: v.Draft) -> v.Plan:
    """The ensemble's leader is cut from the other servers, and before it steps down it expires their clients' sessions.

    A client that connects to it then gets the answer that its session expired, while the next leader still keeps the
    session and its znodes (KAFKA-7165).
    """
    brokers = draft.roles
    _, _, controller = brokers
    keeps = "DLD-16" if draft.target.leader_driven else "INT-51"
    steps: list[v.Step] = [
        v.inject("unheard", v.OneWayParameters(from_="zookeeper-leader", to="zookeeper", how="blackhole")),
        v.Hold(as_="a-while", after="unheard.proven", ms=draft.timing.session_ms * 7 // 4),
        v.Heal(as_="mend", fault="unheard"),
        *(v.NodeExited(as_=f"lives-{broker}", node=broker, within_ms=400, expect=v.never(keeps)) for broker in brokers),
        *(v.Registered(as_=f"back-{broker}", node=broker, is_=True, expect=v.must(keeps)) for broker in brokers),
    ]
    return draft.plan(
        steps,
        v.acknowledged("mend.ended"),
        topology=v.zookeeper_cluster(controller=None if draft.target.leader_driven else controller, servers=3),
    )


def _plan(draft: v.Draft, killed: v.NodeRefs, meanwhile: list[v.Step]) -> v.Plan:
    """Brokers serve on, and none of them loses its session."""
    target = draft.target
    brokers = draft.roles
    works = "DLD-18" if target.leader_driven else "INT-61"
    serves_on = "DLD-15" if target.leader_driven else "DINT-16"
    _, follower, controller = brokers
    steps: list[v.Step] = [
        *(v.Bind(as_=f"epoch-{broker}", value=f"broker-epoch:{broker}") for broker in brokers),
        v.inject("lost", v.KillParameters(nodes=killed)),
        v.WorkloadAcks(as_="serves-on", more=50, expect=v.must(serves_on)),
        *meanwhile,
        v.TopicCreatedThrough(as_="changes-again", node=follower, expect=v.must(works)),
        *(
            v.BrokerEpochAbove(
                as_=f"kept-{broker}", node=broker, value=f"$epoch-{broker}", within_ms=400, expect=v.never(serves_on)
            )
            for broker in brokers
        ),
    ]
    return draft.timed(session_ms=SESSION_MS).plan(
        steps,
        "changes-again",
        v.acknowledged("lost.proven", before="changes-again.ended"),
        topology=v.zookeeper_cluster(controller=None if target.leader_driven else controller, servers=3),
    )
