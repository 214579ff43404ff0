"""A client that reached another cluster or node than it means is notified; a node is not (KIP-1242)."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

OTHER_CLUSTER = "AAAAAAAAAAAAAAAAAAAAAA"
"""An id in Kafka's format that no cluster has."""
ANY_NODE = -1
REBOOTSTRAP_REQUIRED = "error:129"
SAID_MS = 4000


@v.kraft_scenario(
    "misrouted-clients",
    "A client that names another cluster or node is sent back to begin anew; a broker of another cluster is not",
    seconds=25,
    document="KIP-1242",
    features={"misrouted-clients"},
)
def misrouted(draft: v.Draft) -> v.Plan:
    """Clients name cluster and node at brokers; a follower comes up with the disk of another cluster.

    The follower's requests are those of a node: the answers name its mistake, and nothing tells it to begin anew.
    """
    leader, follower, other = draft.roles
    steps: list[v.Step] = [
        v.ask("cluster", leader, "metadata", {"topics": []}, version=10, binds={"cluster": "cluster_id"}),
        *_asked("before", leader, v.node_id(other)),
        v.inject("mount", v.ForeignClusterParameters(node=follower)),
        v.Logged(
            as_="refused",
            node=follower,
            says="INCONSISTENT_CLUSTER_ID",
            after=v.After(event="mount.injected"),
            expect=v.must("DIR-01").model_copy(update={"difference": "AK-10"}),
        ),
        v.Logged(
            as_="notified",
            node=follower,
            says="REBOOTSTRAP_REQUIRED",
            after=v.After(event="mount.injected"),
            within_ms=SAID_MS,
            expect=v.never("K1242-04"),
        ),
        *_asked("meanwhile", other, v.node_id(leader)),
        v.Heal(as_="right", fault="mount"),
        v.inject("kill", v.KillParameters(nodes=leader, back="ready")),
        v.LeaderIs(as_="succeeded", partition="t-0", is_not=leader, expect=v.must("LIVE-03")),
        v.Heal(as_="restart", fault="kill"),
        *_asked("restarted", leader, v.node_id(follower)),
    ]
    return draft.plan(steps, v.acknowledged("restart.ended"))


def _asked(when: str, node: str, other: int) -> list[v.Step]:
    """Name the node that is asked, another one, another cluster, one of both, and none."""
    own = v.node_id(node)
    notified = v.answers("K1242-02", REBOOTSTRAP_REQUIRED)
    not_served = v.never_serves("K1242-02")
    return [
        _hello(f"{when}-right", node, "$cluster", own, v.serves("K1242-01")),
        _hello(f"{when}-wrong-node", node, "$cluster", other, notified),
        _hello(f"{when}-wrong-cluster", node, OTHER_CLUSTER, own, notified),
        _hello(f"{when}-cluster-alone", node, OTHER_CLUSTER, ANY_NODE, not_served),
        _hello(f"{when}-node-alone", node, None, other, not_served),
        _hello(f"{when}-unnamed", node, None, ANY_NODE, v.serves("K1242-03")),
    ]


def _hello(as_: str, node: str, cluster: str | None, id: int, expect: v.ExpectOutcome) -> v.ApiProbe:
    """Say which cluster and node the client means, with the first request of a connection."""
    client = {"client_software_name": "fencepost", "client_software_version": "1"}
    return v.ask(as_, node, "api_versions", {**client, "cluster_id": cluster, "node_id": id}, expect, version=5)
