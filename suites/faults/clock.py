"""The wall clock of a node jumps and drifts; no deadline follows it."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.suites import vocabulary as v

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
LEASE_MS = 4000
"""Long enough to set the clock and prove it while the lease that the cut left still runs."""
AWAY_MS = 6000
"""How long a healed link is watched on a target that is not expected to return by it."""
UNELECTED_MS = 10_000
"""How long a quorum is watched that is not expected to elect: three times as long as an election takes."""


@v.fault_scenario(
    "clock-back-while-cut-off",
    "A leader that is cut off stops serving in time although its wall clock goes back an hour",
    -HOUR_MS,
    seconds=18,
)
@v.fault_scenario(
    "clock-forward-while-cut-off",
    "A leader that is cut off stops serving in time, and returns, although its wall clock goes forward an hour",
    HOUR_MS,
    seconds=18,
)
def cut_off(ms: int, draft: v.Draft) -> v.Plan:
    """The leader measures its deadline on a monotonic clock: it stops serving when it would have without the jump."""
    target = draft.target
    leader, *others = draft.roles
    draft = draft.timed(lease_ms=LEASE_MS)
    silent_ms = v.self_fence_ms(target, draft.timing)
    serves_on = target.differs("AK-04") or target.differs("AZ-01")
    steps: list[v.Step] = [
        v.inject("cut", v.CutParameters(from_=leader, to=v.lease_sources(target))),
        v.inject("jump", v.ClockJumpParameters(nodes=leader, ms=ms)),
        v.Hold(as_="silence-over", after="cut.proven", ms=silent_ms),
        *_silent(target, leader, silent_ms),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("CLK-01")),
        # A leader that serves on hands out old metadata too, and a client that asks only that leader stays with it.
        *(_learn(leader, others) if serves_on else [v.goes_on()]),
        v.produced_at("promise", leader, "all", v.never_serves("HW-02"), repeat=3, timeout_ms=700, after="moved.ended"),
        v.Heal(as_="mend", fault="cut"),
        *_returns(target, leader, back=ms < 0),
    ]
    return draft.plan(
        steps,
        "alone-produce",
        "promise",
        v.acknowledged("moved.ended"),
        topology=_with_clocks(v.smallest_cluster(target, others[-1]), (leader,)),
    )


def _returns(target: v.TargetFacts, leader: str, *, back: bool) -> list[v.Step]:
    """The leader returns with its clock still wrong; a target that needs the right time is watched for a while."""
    right = v.Heal(as_="right", fault="jump")
    rejoined = v.IsrIs(as_="rejoined", partition="t-0", has=leader, expect=v.must("ISR-06"))
    expect = v.must("CLK-02")
    if back:
        expect = target.unless("AK-09", expect, v.never("CLK-02"))
    if expect.level is v.Level.MUST:
        return [v.BrokerActive(as_="returned", node=leader, expect=expect), rejoined, right]
    return [v.BrokerActive(as_="stays-away", node=leader, within_ms=AWAY_MS, expect=expect), right, rejoined]


def _silent(target: v.TargetFacts, leader: str, silent_ms: int) -> list[v.Step]:
    """Send the leader acks=1 requests directly, after its deadline."""
    silent = target.rule("K631-32", "K343-18", "DLD-15")
    expect = target.unless("AK-04", v.never_serves(silent, "D631-01", "K631-43"), v.serves(silent))
    expect = target.unless("AZ-01", expect, v.serves(silent))
    return [*v.service_probes("alone", leader, expect, after=v.After(event="cut.proven", plus_ms=silent_ms))]


def _learn(leader: str, followers: list[str]) -> list[v.Step]:
    """Wait until the followers know of the move: until then they fetch from the old leader, which rightly counts them
    as in sync and acknowledges."""
    moved = v.must("CLK-01")
    return [v.MetadataFrom(as_=f"{node}-knows", node=node, lacks=leader, expect=moved) for node in followers]


@v.fault_scenario(
    "clocks-drift",
    "Wall clocks that drift apart, or are a day behind, end no lease, no session and no ISR membership",
    seconds=12,
)
def drifts(draft: v.Draft) -> v.Plan:
    """The leader's clock is fast, one follower's is slow, the other's is a day behind: no broker is given up, none
    leaves the ISR, and records are taken as before."""
    leader, slow, yesterday = draft.roles
    steps: list[v.Step] = [
        v.inject("fast", v.ClockSkewParameters(nodes=leader, ppm=200_000)),
        v.inject("slow", v.ClockSkewParameters(nodes=slow, ppm=-200_000)),
        v.inject("yesterday", v.ClockJumpParameters(nodes=yesterday, ms=-DAY_MS)),
        v.LeaderIs(
            as_="deposed", partition="t-0", is_not=leader, within_ms=2 * draft.timing.lease_ms, expect=v.never("CLK-01")
        ),
        *(
            v.IsrIs(as_=f"{word}-left", partition="t-0", lacks=broker, within_ms=500, expect=v.never("CLK-01"))
            for word, broker in (("slow", slow), ("yesterday", yesterday))
        ),
        v.goes_on(),
        v.Heal(as_="exact", fault="fast"),
    ]
    return draft.plan(
        steps,
        v.acknowledged("yesterday.proven", before="exact.begun", at_least=20),
        topology=_with_clocks(v.smallest_cluster(draft.target, yesterday), (leader, slow, yesterday)),
    )


@v.fault_scenario(
    "standby-clock-back",
    "A standby controller whose wall clock goes back an hour helps to elect the next active one",
    seconds=16,
    dialects=v.WITHOUT_ZOOKEEPER,
)
def standby_is_back(draft: v.Draft) -> v.Plan:
    """The active controller ends while the clock of one of the two others is an hour back."""
    leader, *others = draft.roles
    controllers = tuple(map(v.node_name, v.CONTROLLER_IDS))
    expect = draft.target.unless("AK-15", v.must("CLK-03", "LIVE-02"), v.never("CLK-03"))
    elects = expect.level is v.Level.MUST
    right = v.Heal(as_="right", fault="jump")
    elected = v.ActiveController(
        as_="elected", is_not="$first", within_ms=v.LIVENESS_TIMEOUT_MS if elects else UNELECTED_MS, expect=expect
    )
    corrected = v.ActiveController(as_="elected-with-the-right-time", is_not="$first", expect=v.must("LIVE-02"))
    steps: list[v.Step] = [
        v.Bind(as_="first", node="active-controller"),
        v.inject("jump", v.ClockJumpParameters(nodes="standby-controller", ms=-HOUR_MS)),
        v.inject("crash", v.KillParameters(nodes="$first")),
        elected,
        right,
        *([] if elects else [corrected]),
        v.TopicCreatedThrough(as_="decides", node=leader, expect=v.must("LIVE-02")),
        v.Heal(as_="restart", fault="crash"),
    ]
    return draft.plan(
        steps,
        v.acknowledged("right.ended"),
        topology=_with_clocks(v.smallest_cluster(draft.target, others[-1]), controllers),
    )


def _with_clocks(topology: v.Topology, names: Collection[str]) -> v.Topology:
    """Give these nodes a wall clock of their own."""
    nodes = (node.model_copy(update={"clock": "own"}) if node.name in names else node for node in topology.nodes)
    return topology.model_copy(update={"nodes": tuple(nodes)})
