"""The active controller loses its peers and keeps its clients, or only one leader of a partition."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631.metadata_log import log_holds

BROKERS = tuple(map(v.node_name, v.BROKER_IDS))
LEASE_MS = 4000
"""Long enough for leases to outlive the election."""
FETCH_TIMEOUT_MS = 2000
"""The fetch timeout, after which a leader that hears no majority resigns: longer than a lease on the minority side."""


@v.scenario(
    "isolated-controller",
    "An active controller cut from its peers creates no topic, changes no ISR and renews no lease",
    seconds=12,
)
def from_peers(draft: v.Draft) -> v.Plan:
    leader, follower, other = draft.roles
    draft = draft.timed(lease_ms=LEASE_MS, fetch_ms=FETCH_TIMEOUT_MS)
    steps: list[v.Step] = [
        v.Bind(as_="old", node="active-controller"),
        v.inject("cut", v.IsolateParameters(nodes="$old", from_="controllers", how="stall")),
        *_powerless(draft.target, leader, shrunk=(leader, follower)),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("LIVE-02")),
        _heartbeat("deposed", leader, v.never_serves("D631-03")),
        v.Hold(as_="unheard", after="cut.proven", ms=3 * draft.timing.fetch_ms),
        _heartbeat("resigned", leader, v.answers("CTRL-05", "error:41"), timeout_ms=3000),
        *(v.TopicCreatedThrough(as_=f"create-{broker}", node=broker, expect=v.must("LIVE-02")) for broker in BROKERS),
        v.IsrIs(as_="not-shrunk", partition="t-0", has=other, expect=v.must("K631-16", "K631-14")),
    ]
    return draft.plan(
        steps,
        "shrink",
        "elected",
        "resigned",
        v.acknowledged("elected.ended"),
        afterwards=[
            v.MetadataProbe(
                as_="never-made", node=leader, topic="minority", expect=v.answers("K631-16", "error:3", "K631-14")
            ),
            *_truncated(draft.target),
        ],
    )


def _truncated(target: v.TargetFacts) -> list[v.Step]:
    """Expect that the old controller gives up what it had not committed, and that the log never gets it."""
    if target.dialect is not v.Dialect.KIP_631:
        return []
    return [
        v.Logged(
            as_="truncated",
            node="$old",
            says="truncated the metadata log to",
            after=v.After(event="elected.ended"),
            expect=v.must("K631-18"),
        ),
        log_holds("never-logged", {"record": "TopicRecord", "name": "minority"}, {"log": []}, "K631-16", "K631-18"),
    ]


def _powerless(target: v.TargetFacts, leader: str, shrunk: tuple[str, ...]) -> list[v.Step]:
    """Expect that the old controller grants nothing, although it still believes that it is active.

    The renewal comes first and is brief: a controller that does not ask its peers would grant it at once, and the old
    one resigns when it has not heard from them for the fetch timeout.
    """
    return [
        _renewal(target, leader),
        v.CreateTopicProbe(
            as_="create", node="$old", topic="minority", timeout_ms=500, expect=v.never_serves("K631-17")
        ),
        v.AlterIsrProbe(
            as_="shrink",
            node="$old",
            topic="t",
            broker=leader,
            isr=shrunk,
            timeout_ms=500,
            expect=v.never_serves("K631-17"),
        ),
    ]


def _renewal(target: v.TargetFacts, leader: str) -> v.HeartbeatProbe:
    claim = target.unless("AK-07", v.never_serves("D631-03"), v.may_answer("D631-03", "served"))
    return _heartbeat("renewal", leader, claim, timeout_ms=250)


def _heartbeat(name: str, broker: str, expect: v.ExpectOutcome, timeout_ms: int = 500) -> v.HeartbeatProbe:
    return v.HeartbeatProbe(as_=name, node="$old", broker=broker, timeout_ms=timeout_ms, expect=expect)


@v.scenario(
    "minority-side", "A leader that is cut off together with the old active controller keeps no lease", seconds=15
)
def minority_side(draft: v.Draft) -> v.Plan:
    """Leader and old active controller reach only each other and clients."""
    leader = draft.leader
    draft = draft.timed(fetch_ms=FETCH_TIMEOUT_MS)
    serves_on = draft.target.unless("AK-04", v.never_serves("D631-03"), v.serves("D631-03"))
    steps: list[v.Step] = [
        v.Bind(as_="old", node="active-controller"),
        v.inject("cut", v.IsolateParameters(nodes=("$old", leader), from_=("controllers", "brokers"), how="stall")),
        _renewal(draft.target, leader),
        v.Hold(as_="lease-over", after="cut.proven", ms=draft.timing.lease_ms),
        *v.service_probes(
            "marooned", leader, serves_on, after=v.After(event="cut.proven", plus_ms=draft.timing.lease_ms)
        ),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("LIVE-02")),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("D631-07")),
        v.goes_on(),
        v.Heal(as_="mend", fault="cut"),
    ]
    return draft.plan(steps, "marooned-produce", "renewal", v.acknowledged("moved.ended"))
