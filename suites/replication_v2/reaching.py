"""A leader is cut from ZooKeeper, or from its followers, in both directions or one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fencepost.suites import vocabulary as v

FromZooKeeper = Callable[[str], v.Step]


_cut = partial(v.replication_v2_scenario, seconds=11)


def cut(leader: str) -> v.Step:
    return v.inject("cut", v.CutParameters(from_=leader, to="zookeeper"))


def stall(leader: str) -> v.Step:
    return v.inject("cut", v.StallParameters(from_=leader, to="zookeeper"))


def requests_lost(leader: str) -> v.Step:
    """Lose the leader's requests to ZooKeeper; ZooKeeper's replies arrive."""
    return v.inject("cut", v.OneWayParameters(from_=leader, to="zookeeper"))


def replies_lost(leader: str) -> v.Step:
    """Lose ZooKeeper's replies to the leader; its requests arrive and may keep the session alive."""
    return v.inject("cut", v.OneWayParameters(from_="zookeeper", to=leader))


@_cut(
    "v2-cut-from-zookeeper-cut", "A leader cut from ZooKeeper serves nothing after one session, and another leads", cut
)
@_cut("v2-cut-from-zookeeper-stall", "A leader whose links to ZooKeeper stall serves nothing after one session", stall)
@_cut(
    "v2-cut-from-zookeeper-requests",
    "A leader that ZooKeeper does not hear serves nothing after one session",
    requests_lost,
)
@_cut(
    "v2-cut-from-zookeeper-replies",
    "A leader that does not hear ZooKeeper serves nothing after one session",
    replies_lost,
)
def without_zookeeper(fault: FromZooKeeper, draft: v.Draft) -> v.Plan:
    """After one session timeout the leader serves no client, whether ZooKeeper has expired its session or not."""
    leader = draft.leader
    over = v.After(event="cut.proven", plus_ms=draft.timing.session_ms)
    steps: list[v.Step] = [
        v.Bind(as_="broker-epoch", value=f"broker-epoch:{leader}"),
        v.Bind(as_="epoch", value="leader-epoch:t-0"),
        fault(leader),
        v.Hold(as_="session-over", after="cut.proven", ms=draft.timing.session_ms),
        *v.service_probes("alone", leader, v.never_serves("DLD-15"), after=over),
        *(_moves(leader) if fault is not replies_lost else []),
        *v.service_probes("deposed", leader, v.never_serves("DLD-15"), repeat=1, after=over),
        v.Heal(as_="mend", fault="cut"),
        *(_returns(leader) if fault is not replies_lost else []),
        v.BrokerActive(as_="active", node=leader, expect=v.must("DLD-16")),
    ]
    return draft.plan(steps, "alone-produce", v.acknowledged("mend.ended" if fault is replies_lost else "moved.ended"))


def _moves(leader: str) -> list[v.Step]:
    return [
        v.Registered(as_="gone", node=leader, is_=False, expect=v.must("LD-10")),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("LD-12")),
        v.LeaderEpochAbove(as_="next", partition="t-0", value="$epoch", expect=v.must("LD-50")),
        v.goes_on("LD-55"),
    ]


def _returns(leader: str) -> list[v.Step]:
    return [
        v.BrokerEpochAbove(as_="anew", node=leader, value="$broker-epoch", expect=v.must("DLD-16")),
        v.IsrIs(as_="rejoined", partition="t-0", has=leader, expect=v.must("LD-49")),
    ]


FromFollowers = Callable[[str, tuple[str, ...]], v.Step]


def both_ways(leader: str, followers: tuple[str, ...]) -> v.Step:
    return v.inject("cut", v.IsolateParameters(nodes=leader, from_=followers))


def fetches_lost(leader: str, followers: tuple[str, ...]) -> v.Step:
    return v.inject("cut", v.OneWayParameters(from_=followers, to=leader))


def records_lost(leader: str, followers: tuple[str, ...]) -> v.Step:
    """Lose the leader's answers; the fetches arrive."""
    return v.inject("cut", v.OneWayParameters(from_=leader, to=followers))


@_cut(
    "v2-cut-from-followers-both",
    "A leader cut from its followers stays leader and acknowledges nothing at acks=all",
    both_ways,
)
@_cut(
    "v2-cut-from-followers-fetches",
    "A leader that does not hear its followers stays leader and acknowledges nothing at acks=all",
    fetches_lost,
)
@_cut(
    "v2-cut-from-followers-records",
    "A leader that its followers do not hear stays leader and acknowledges nothing at acks=all",
    records_lost,
)
def without_followers(fault: FromFollowers, draft: v.Draft) -> v.Plan:
    """The leader reaches ZooKeeper, so it goes on leading: alone in its ISR, below min.insync.replicas."""
    leader, *others = draft.roles
    followers = tuple(others)
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value="leader-epoch:t-0"),
        fault(leader, followers),
        v.produced_at("unheard", leader, "all", v.never_serves("LD-72", "LD-17", "LD-69"), timeout_ms=1000),
        v.IsrIs(as_="alone", partition="t-0", is_=leader, expect=v.must("LD-70", "LD-23")),
        v.produced_at(
            "too-few",
            leader,
            "all",
            v.answers("DLD-23", "error:[19, 20]"),
            repeat=3,
            timeout_ms=3000,
            after="alone.ended",
        ),
        v.produced_at("leads", leader, 1, v.serves("LD-68"), timeout_ms=3000),
        v.LeaderIs(
            as_="deposed", partition="t-0", is_not=leader, within_ms=draft.timing.session_ms, expect=v.never("LD-01")
        ),
        v.LeaderEpochAbove(as_="moved", partition="t-0", value="$epoch", within_ms=200, expect=v.never("LD-03")),
        v.Heal(as_="mend", fault="cut"),
        v.IsrIs(as_="together", partition="t-0", has=(leader, *followers), expect=v.must("LD-71")),
    ]
    return draft.plan(steps, "too-few", v.acknowledged("together.ended"), topics=[v.topic([leader, *followers])])
