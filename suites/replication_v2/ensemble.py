"""ZooKeeper is silent for longer than a session."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

ANSWERS_STILL_MS = 1000


@v.replication_v2_scenario(
    "v2-zookeeper-silent",
    "Without a ZooKeeper quorum for longer than a session no broker serves; with it all serve again",
    seconds=16,
)
def silent(draft: v.Draft) -> v.Plan:
    """No broker knows whether it still leads, so none serves; with a ZooKeeper quorum all serve again.

    The last server still answers for a moment before it knows that it has no quorum.
    """
    leader = draft.leader
    over = v.After(event="lost.proven", plus_ms=draft.timing.session_ms + ANSWERS_STILL_MS)
    asked: list[v.Step] = [
        step
        for broker in map(v.node_name, v.BROKER_IDS)
        for step in v.service_probes(
            f"alone-{broker}", broker, v.never_serves("DLD-15", "DLD-47"), after=over, repeat=1
        )
    ]
    steps: list[v.Step] = [
        v.inject("lost", v.KillParameters(nodes=("zk-1", "zk-2"))),
        v.Hold(as_="session-over", after="lost.proven", ms=draft.timing.session_ms + ANSWERS_STILL_MS),
        *asked,
        v.Heal(as_="mend", fault="lost"),
        v.goes_on(),
    ]
    return draft.plan(
        steps,
        f"alone-{leader}-produce",
        v.acknowledged("mend.ended"),
        topology=v.zookeeper_cluster(servers=3),
        may_lose=True,
    )
