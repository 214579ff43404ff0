"""Leases last: through a silence of half of it, and while a broker starts behind a log that is never at rest."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LEASE_MS = 8000
"""Half of it is longer than a heartbeat takes on a busy machine."""
CHANGES, EVERY_MS = 60, 300
"""Changes of a topic's settings, one after the other, for longer than a broker needs to start."""
ACTIVE_MS = 15_000
"""The log is not at rest before: the changes take longer, also by the time until the process runs."""
LATENCY_MS = 300
"""So late comes the metadata that the log has grown again meanwhile."""


@v.scenario("half-a-lease", "A leader that sleeps for half a lease is not given up", seconds=12)
def half_a_lease(draft: v.Draft) -> v.Plan:
    """A leader sleeps for half a lease: no controller gives it up, and it leads on."""
    leader = draft.leader
    draft = draft.timed(lease_ms=LEASE_MS)
    half = draft.timing.lease_ms // 2
    steps: list[v.Step] = [
        v.inject("sleep", v.PauseParameters(nodes=leader)),
        v.BrokerFenced(as_="given-up", node=leader, within_ms=half, expect=v.never("K631-51", "K631-30")),
        v.Heal(as_="wake", fault="sleep"),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=2000, expect=v.never("K631-51", "K631-30")),
    ]
    return draft.plan(steps, v.acknowledged("wake.ended"))


@v.scenario(
    "starts-behind",
    "A broker becomes active while the metadata log grows all the time",
    seconds=22,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def busy_log(draft: v.Draft) -> v.Plan:
    """A broker starts over a long way to the controllers, while their log grows all the time (KAFKA-13959).

    At no time has it all of the log; it has its own registration, and that is enough.
    """
    leader, follower, new_broker = draft.roles
    draft = draft.timed(lease_ms=LEASE_MS, request_ms=LEASE_MS // 2)
    steps: list[v.Step] = [
        v.inject("far", v.SlowParameters(from_=new_broker, to="controllers", latency_ms=LATENCY_MS)),
        *(_changes(name, leader, value) for name, value in (("grows", "1000000"), ("grows-on", "1000001"))),
        v.Start(as_="start", nodes=new_broker, until="running"),
        v.BrokerActive(as_="active", node=new_broker, within_ms=ACTIVE_MS, expect=v.must("D631-11", "K631-42")),
        v.Heal(as_="near", fault="far"),
    ]
    return draft.plan(
        steps,
        "grows",
        "active",
        topology=v.smallest_cluster(draft.target, follower, held_back=[new_broker]),
        topics=[v.topic([leader, follower])],
    )


def _changes(name: str, broker: str, size: str) -> v.Step:
    """Give a topic a setting again and again. Two such steps at a time, so that each request is a change."""
    return v.configured(
        name,
        broker,
        "t",
        {"max.message.bytes": size},
        validate_only=None,
        version=1,
        repeat=CHANGES,
        every_ms=EVERY_MS,
        timeout_ms=v.LIVENESS_TIMEOUT_MS,
        background=True,
        expect=v.serves("LIVE-04"),
    )
