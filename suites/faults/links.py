"""Links between nodes that lose, hold back, tear or slow down bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fencepost.suites import vocabulary as v

MANY = 300
"""Records enough for several connections, each of which is torn after a second or two."""
TORN_REQUESTS, TORN_REPLIES = 20_011, 30_011
"""Bytes after which a connection ends: more than two batches, and a prime, so that no frame ends there."""
ON_MS, OFF_MS, TIMES = 600, 900, 5


@v.fault_scenario(
    "links-bridge",
    "A leader that only one follower can reach is deposed, and its side acknowledges nothing",
    seconds=12,
)
def bridge(draft: v.Draft) -> v.Plan:
    """Bridge: the leader is alone on one side; a follower and the controllers, or ZooKeeper, are on the other.

    The second follower reaches both sides. It fetches from the deposed leader until it learns of the new one.
    """
    target = draft.target
    leader, follower, over = draft.roles
    serves_on = target.differs("AK-04") or target.differs("AZ-01")
    steps: list[v.Step] = [
        v.inject("split", v.BridgeParameters(nodes=leader, from_=(follower, v.metadata_store(target)), over=over)),
        v.LeaderIs(
            as_="moved", partition="t-0", is_not=leader, expect=v.must(target.rule("D631-07", "INT-28", "LD-31"))
        ),
        # A leader that serves on hands out old metadata too, and a client that asks only that leader stays with it.
        *([] if serves_on else [v.goes_on("ISR-05")]),
        v.Heal(as_="mend", fault="split"),
        v.returns_to_isr(leader),
    ]
    return draft.plan(steps, v.acknowledged("moved.ended"))


@v.fault_scenario(
    "links-ring", "A cluster in which each node reaches only its neighbours loses no acknowledged record", seconds=15
)
def ring(draft: v.Draft) -> v.Plan:
    """Ring: no two nodes reach the same part of the cluster, so hardly anything can be decided.

    Every record that is acknowledged in the meantime counts.
    """
    target = draft.target
    brokers = draft.roles
    deciders = [f"zk-{id}" if target.uses_zookeeper else v.node_name(id) for id in v.CONTROLLER_IDS]
    steps: list[v.Step] = [
        v.inject("circle", v.RingParameters(nodes=(*brokers, *deciders))),
        v.Hold(as_="round", after="circle.proven", ms=2 * v.self_fence_ms(target, draft.timing)),
        v.Heal(as_="mend", fault="circle"),
    ]
    return draft.plan(
        steps,
        v.Attempted(by="p1", after="circle.proven", before="mend.begun"),
        v.acknowledged("whole.ended"),
        topology=_three_coordinators(target, brokers[-1]),
        may_lose=True,
    )


def _three_coordinators(target: v.TargetFacts, controller: str) -> v.Topology:
    if not target.uses_zookeeper:
        return v.quorum_cluster()
    return v.zookeeper_cluster(servers=3, controller=None if target.leader_driven else controller)


@v.fault_scenario(
    "links-flapping", "A partition serves on while the link between leader and follower flaps", seconds=15
)
def flapping(draft: v.Draft) -> v.Plan:
    """The link between the leader and a follower flaps, faster than the lag time after which the follower leaves."""
    _, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.inject(
            "flap", v.FlappingParameters(nodes="leader:t-0", from_=follower, on_ms=ON_MS, off_ms=OFF_MS, count=TIMES)
        ),
        v.goes_on("ISR-05"),
        v.Hold(as_="all-changes", after="flap.injected", ms=TIMES * (ON_MS + OFF_MS)),
        v.Heal(as_="mend", fault="flap"),
    ]
    return _plan(draft, steps, "flap")


@v.fault_scenario(
    "links-torn-produce",
    "Produce requests that are torn in mid-frame are sent again, and no record counts twice",
    "produce",
    seconds=12,
)
@v.fault_scenario(
    "links-torn-fetch", "Replication goes on when fetch responses are torn in mid-frame", "fetch", seconds=12
)
def torn(stream: str, draft: v.Draft) -> v.Plan:
    """Each connection ends in the middle of a frame. Its sender sends the frame again, and nothing counts twice."""
    leader = draft.leader
    faults: Mapping[str, v.Step] = {
        "produce": v.inject("tear", v.CutAfterBytesParameters(from_="site:main", to=leader, after_bytes=TORN_REQUESTS)),
        "fetch": v.inject(
            "tear",
            v.CutAfterBytesParameters(
                from_="followers:t-0", to="leader:t-0", after_bytes=TORN_REPLIES, stream="replies"
            ),
        ),
    }
    steps: list[v.Step] = [faults[stream], v.goes_on("ISR-05", more=MANY), v.Heal(as_="mend", fault="tear")]
    return _plan(draft, steps, "tear")


@v.fault_scenario(
    "links-slow-replication",
    "A leader with distant followers acknowledges records later, and keeps them in sync",
    seconds=15,
)
def slow(draft: v.Draft) -> v.Plan:
    """The links of followers to the leader have high latency and little bandwidth: records are acknowledged later."""
    steps: list[v.Step] = [
        v.inject("far", v.SlowParameters(from_="followers:t-0", to="leader:t-0", latency_ms=100, rate_kb=40)),
        v.goes_on("ISR-05", more=100),
        v.Heal(as_="near", fault="far"),
    ]
    return _plan(draft, steps, "far")


def deaf(leader: str, follower: str) -> v.Step:
    """Lose all answers to the follower; its requests arrive."""
    return v.inject("lose", v.OneWayParameters(from_=leader, to=follower, how="blackhole"))


def reset(leader: str, follower: str) -> v.Step:
    """Reset each connection of the follower once it is open."""
    return v.inject("lose", v.ResetParameters(from_=follower, to=leader))


@v.fault_scenario(
    "links-deaf-follower", "A follower whose fetch responses are lost leaves the ISR and returns", deaf, seconds=12
)
@v.fault_scenario("links-reset", "A follower whose connections are reset leaves the ISR and returns", reset, seconds=12)
def follower_lost(how: Callable[[str, str], v.Step], draft: v.Draft) -> v.Plan:
    """A follower that receives nothing leaves the ISR, which goes on without it, and returns."""
    leader, follower, _ = draft.roles
    steps: list[v.Step] = [
        how(leader, follower),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("ISR-05")),
        v.goes_on("ISR-05"),
        v.Heal(as_="mend", fault="lose"),
        v.returns_to_isr(follower),
    ]
    return _plan(draft, steps, "lose")


def _plan(draft: v.Draft, steps: list[v.Step], fault: str) -> v.Plan:
    return draft.plan(steps, v.acknowledged(f"{fault}.proven", before=f"{_healing(steps)}.begun"))


def _healing(steps: list[v.Step]) -> str:
    return next(step.as_ for step in steps if isinstance(step, v.Heal) and step.as_)
