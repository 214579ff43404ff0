"""A leader is cut from the controller, from ZooKeeper, or from both."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.suites import vocabulary as v


def old(requirement: str) -> v.ExpectOutcome:
    """Expect metadata from before the cut: a topic that was created since is unknown."""
    return v.answers(requirement, "error:3")


@v.internals_scenario(
    "reaches-zookeeper-not-controller",
    "Without heartbeats a leader that the controller cannot reach stays alive, with metadata as old as the cut",
    seconds=14,
    requirements=("INT-01",),
    levels=("base",),
)
def stale_metadata(draft: v.Draft) -> v.Plan:
    """The leader reaches ZooKeeper and its other follower, and nothing passes between it and the controller.

    It counts as alive, changes its ISR by itself, and hands out metadata as old as the cut. The run's finding
    `stale-metadata` says how old, and for how long.
    """
    leader, follower, controller = draft.roles
    steps: list[v.Step] = [
        v.inject("cut", v.IsolateParameters(nodes=leader, from_=controller)),
        v.CreateTopicProbe(as_="news", node=controller, topic="news", timeout_ms=9000, expect=v.serves("INT-03")),
        v.MetadataFrom(as_="notified", node=follower, partition="news-0", expect=v.must("INT-23")),
        v.reassign("move", {"u-0": (controller,)}),
        v.LeaderIs(as_="led-elsewhere", partition="u-0", is_=controller, expect=v.must("INT-38")),
        v.MetadataFrom(
            as_="learns",
            node=leader,
            partition="u-0",
            leader=controller,
            within_ms=2 * draft.timing.session_ms,
            expect=v.never("K343-02"),
        ),
        v.MetadataProbe(as_="outdated", node=leader, topic="news", repeat=4, expect=old("K343-02")),
        v.IsrIs(
            as_="shrunk", partition="t-0", lacks=controller, expect=v.must("INT-02", "K343-04", "K343-58", "DINT-01")
        ),
        v.goes_on(),
        v.Registered(as_="given-up", node=leader, is_=False, within_ms=500, expect=v.never("K343-01")),
        v.LeaderIs(as_="deposed", partition="t-0", is_not=leader, within_ms=500, expect=v.never("INT-43")),
        *v.service_probes("alive", leader, v.serves("K343-57"), repeat=1),
        v.MetadataProbe(as_="still-outdated", node=leader, topic="news", repeat=4, expect=old("K343-03")),
        v.Heal(as_="mend", fault="cut"),
        v.IsrIs(as_="rejoined", partition="t-0", has=controller, expect=v.must("ISR-06")),
    ]
    return draft.plan(
        steps,
        "outdated",
        "still-outdated",
        v.acknowledged("shrunk.ended", before="mend.begun"),
        topics=[v.topic([leader, follower, controller]), v.topic([follower, controller], name="u", min_isr=1)],
        afterwards=[v.MetadataProbe(as_="up-to-date", node=leader, topic="news", expect=v.serves("INT-18"))],
    )


def cut(leader: str, controller: str) -> v.Step:
    return v.inject("cut", v.CutParameters(from_=leader, to="zookeeper"))


def neither(leader: str, controller: str) -> v.Step:
    return v.inject("cut", v.IsolateParameters(nodes=leader, from_=("zookeeper", controller)))


def requests_lost(leader: str, controller: str) -> v.Step:
    """Lose the leader's requests to ZooKeeper; ZooKeeper's replies arrive."""
    return v.inject("cut", v.OneWayParameters(from_=leader, to="zookeeper"))


def replies_lost(leader: str, controller: str) -> v.Step:
    """Lose ZooKeeper's replies to the leader; its requests arrive and may keep the session alive."""
    return v.inject("cut", v.OneWayParameters(from_="zookeeper", to=leader))


Fault = Callable[[str, str], v.Step]


@v.internals_scenario(
    "deaf-to-zookeeper",
    "A leader that does not hear ZooKeeper, although ZooKeeper hears it, recovers fully",
    replies_lost,
    seconds=14,
    levels=("base",),
)
def without_zookeeper(fault: Fault, draft: v.Draft) -> v.Plan:
    """The session ends, the znode goes, another broker leads; the old leader, not notified, commits nothing.

    With heartbeats the old leader is fenced as well: a controller grants nothing to a broker that is not registered.
    """
    leader, *others = draft.roles
    ends = fault is not replies_lost
    fences = draft.target.has_kip_343 and draft.scenario.level(draft.target) != "base"
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        fault(leader, others[-1]),
        *(_given_up(leader) if ends else [v.Hold(as_="a-while", after="cut.proven", ms=2 * draft.timing.session_ms)]),
        *(_fenced(leader, draft.timing.session_ms + draft.timing.fence_ms) if fences and ends else []),
        v.Produce(as_="unsafe", topic="t", node=leader, acks=1, records=5, timeout_ms=300),
        v.produced_at("promise", leader, "all", v.never_serves("INT-57") if ends else None, repeat=3, timeout_ms=700),
        v.Heal(as_="mend", fault="cut"),
        *(_returned(leader) if ends else []),
        v.BrokerActive(as_="active", node=leader, expect=v.must("INT-51")),
    ]
    return draft.plan(steps, "promise", v.acknowledged("mend.ended"))


def _given_up(leader: str) -> list[v.Step]:
    return [
        v.Registered(as_="gone", node=leader, is_=False, expect=v.must("INT-43")),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("INT-28", "INT-08", "INT-44", "INT-53")),
        # Records that the successor fetched before it was notified are acknowledged rightly.
        v.Bind(as_="successor", node="leader:t-0"),
        v.learns_leader("notified", "$successor", "t-0", "$successor", v.must("INT-22")),
    ]


def _fenced(leader: str, deadline_ms: int) -> list[v.Step]:
    return [
        v.Hold(as_="fence-over", after="cut.proven", ms=deadline_ms),
        *v.service_probes("fenced", leader, v.never_serves("D343-14")),
    ]


def _returned(leader: str) -> list[v.Step]:
    return [
        v.BrokerEpochAbove(as_="anew", node=leader, value="$epoch", expect=v.must("INT-51")),
        v.IsrIs(as_="rejoined", partition="t-0", has=leader, expect=v.must("HW-04")),
    ]


_CUTS: tuple[tuple[str, Fault, str], ...] = (
    ("reaches-controller-not-zookeeper", cut, "A leader that reaches the controller and not ZooKeeper"),
    ("reaches-neither", neither, "A leader that reaches neither ZooKeeper nor the controller"),
    ("unheard-by-zookeeper", requests_lost, "A leader that hears ZooKeeper and is not heard by it"),
)
_AT = (
    ("base", "", "loses its znode and its leadership, and commits nothing"),
    ("heartbeats", "-at-heartbeats", "loses its znode and its leadership, and is fenced"),
)

for _slug, _fault, _leader in _CUTS:
    for _level, _suffix, _happens in _AT:
        v.internals_scenario(f"{_slug}{_suffix}", f"{_leader} {_happens}", _fault, seconds=14, levels=(_level,))(
            without_zookeeper
        )
