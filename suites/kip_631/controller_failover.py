"""The active controller dies, or stops for a long time, under load."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LEASE_MS = 8000
"""Longer than an election on a busy machine, too, so that leases can outlive it."""
ONE_WAY_MS = 150
"""Far above what a busy machine adds to a timer, and below the shortest timeout of a request."""
BROKERS = tuple(map(v.node_name, v.BROKER_IDS))


@v.scenario(
    "active-controller-killed",
    "After kill -9 of the active controller another takes over, and nothing acknowledged is lost",
    seconds=11,
)
def kill(draft: v.Draft) -> v.Plan:
    return _plan(draft, v.inject("fault", v.KillParameters(nodes="$old")), [])


@v.scenario(
    "active-controller-paused", "An active controller that wakes from a long SIGSTOP commits nothing", seconds=11
)
def pause(draft: v.Draft) -> v.Plan:
    """A paused process still takes connections and requests. They wait until it wakes as a former controller, which may
    not grant them; they must never take effect."""
    late = v.CreateTopicProbe(
        as_="while-paused",
        node="$old",
        topic="late",
        background=True,
        timeout_ms=15_000,
        expect=v.never_serves("D631-23"),
    )
    woken: list[v.Step] = [
        v.Hold(as_="long", after="fault.proven", ms=draft.timed(lease_ms=LEASE_MS).timing.lease_ms),
        v.Heal(as_="wake", fault="fault"),
        v.CreateTopicProbe(
            as_="woken", node="$old", topic="woken", repeat=3, timeout_ms=500, expect=v.never_serves("D631-23")
        ),
    ]
    absent: list[v.Step] = [
        v.MetadataProbe(as_=f"no-{name}", node=BROKERS[0], topic=name, expect=v.answers("K631-16", "error:3"))
        for name in ("late", "woken")
    ]
    deposed = v.HeartbeatProbe(
        as_="not-active",
        node="$old",
        broker=BROKERS[0],
        broker_epoch=f"$epoch-{BROKERS[0]}",
        expect=v.answers("K631-57", "error:41"),
    )
    return _plan(draft, v.inject("fault", v.PauseParameters(nodes="$old")), [late], woken, [*absent, deposed])


def _plan(
    draft: v.Draft,
    fault: v.Step,
    meanwhile: list[v.Step],
    woken: list[v.Step] | None = None,
    afterwards: list[v.Step] | None = None,
) -> v.Plan:
    steps: list[v.Step] = [
        *(v.Bind(as_=f"epoch-{broker}", value=f"broker-epoch:{broker}") for broker in BROKERS),
        v.Bind(as_="old", node="active-controller"),
        v.Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        v.CreateTopicProbe(as_="promised", node="$old", topic="promised", expect=v.serves("K631-17", "K631-12")),
        fault,
        *meanwhile,
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("LIVE-02", "K631-13")),
        *(
            v.HeartbeatProbe(
                as_=f"lease-{broker}",
                node="active-controller",
                broker=broker,
                broker_epoch=f"$epoch-{broker}",
                repeat=4,
                expect=v.never_answers("D631-04", "error:77"),
            )
            for broker in BROKERS
        ),
        # A broker whose next state is FENCED loses its leaderships, whatever the error of the answer (KAFKA-16757).
        v.LeaderEpochAbove(
            as_="fenced-again", partition="t-0", value="$leader-epoch", within_ms=1000, expect=v.never("D631-04")
        ),
        *(v.TopicCreatedThrough(as_=f"create-{broker}", node=broker, expect=v.must("LIVE-02")) for broker in BROKERS),
        *(
            v.MetadataProbe(as_=f"kept-{broker}", node=broker, topic="promised", expect=v.serves("K631-15"))
            for broker in BROKERS
        ),
        *(woken or ()),
    ]
    return draft.timed(lease_ms=LEASE_MS).plan(
        steps,
        *(v.OutcomeSeen(step=f"lease-{broker}", outcome="served") for broker in BROKERS),
        f"kept-{BROKERS[-1]}",
        v.acknowledged("fault.proven"),
        afterwards=[*(afterwards or ())],
    )


@v.scenario(
    "controller-and-brokers-killed",
    "After kill -9 of the active controller and two brokers at once the third broker leads, alone",
    seconds=14,
)
def with_brokers(draft: v.Draft) -> v.Plan:
    """The active controller and two of three brokers die at once, so that two leases end in one instant.

    The next active controller ends both, one after the other: the second is judged by what the first left
    (KAFKA-13173).
    """
    leader, follower, left = draft.roles
    steps: list[v.Step] = [
        v.Bind(as_="old", node="active-controller"),
        v.inject("fault", v.KillParameters(nodes=("$old", leader, follower))),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("LIVE-02", "K631-13")),
        v.LeaderIs(as_="moved", partition="t-0", is_=left, expect=v.must("D631-07", "ISR-01")),
        v.IsrIs(as_="alone", partition="t-0", is_=left, expect=v.must("D631-07")),
        v.Heal(as_="return", fault="fault"),
    ]
    return draft.plan(steps, "alone", v.acknowledged("return.ended"))


@v.scenario(
    "election-on-slow-links",
    "Two controllers that stand for election at one instant on slow links elect one of them",
    seconds=10,
)
def on_slow_links(draft: v.Draft) -> v.Plan:
    """The other two controllers hear of the last commit at one instant, so they miss the active one at one instant.

    Each asks for votes before it hears of the other. What elects one of them is that they do not wait equally long
    (KAFKA-18345).
    """
    steps: list[v.Step] = [
        v.Bind(as_="old", node="active-controller"),
        v.inject("slow", v.SlowParameters(from_="controllers", to="controllers", latency_ms=ONE_WAY_MS)),
        v.CreateTopicProbe(as_="last", node="$old", topic="last", expect=v.serves("K631-12")),
        v.inject("fault", v.KillParameters(nodes="$old")),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("LIVE-02", "K631-13")),
    ]
    return draft.timed(lease_ms=LEASE_MS).plan(
        steps, v.OutcomeSeen(step="last", outcome="served"), v.acknowledged("elected.ended")
    )
