"""Requests of a dead process arrive after its successor started."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.suites import vocabulary as v

LAG_MS = 600
"""Well below the lease: the leader finds its followers slow and asks for a smaller ISR while its links are stalled."""


@v.scenario("late-bytes", "Late requests of a dead incarnation are refused", seconds=14, dialects=v.ALL_DESIGNS)
def build(draft: v.Draft) -> v.Plan:
    """The proxies hold the leader's heartbeats, fetches and ISR change, and its replies to followers.

    The process dies, its successor starts behind the same stalled links, and only then do the bytes arrive.
    """
    target = draft.target
    leader, *followers = draft.roles
    draft = draft.timed(lag_ms=LAG_MS)
    moved = v.must(target.rule("D631-07", "INT-28", "LD-31"))
    registered = target.rule("D631-08", "K343-07", "DLD-02")
    not_again = v.never(target.rule("D631-15", "D343-17", "DLD-01"))
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        v.inject(
            "stall-out", v.StallParameters(from_=leader, to=control_receivers(target, followers), streams="requests")
        ),
        v.inject("stall-in", v.StallParameters(from_=tuple(followers), to=leader)),
        v.Hold(as_="queued", after="stall-in.proven", ms=2 * draft.timing.lag_ms),
        v.inject("kill", v.KillParameters(nodes=leader, back="running")),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=moved),
        v.Heal(as_="restart", fault="kill"),
        v.Heal(as_="release-out", fault="stall-out"),
        v.Heal(as_="release-in", fault="stall-in"),
        v.BrokerActive(as_="successor", node=leader, expect=v.must(target.rule("K631-39", "K343-29", "LD-27"))),
        v.BrokerEpochAbove(as_="registered", node=leader, value="$epoch", expect=v.must(registered)),
        v.Bind(as_="successor-epoch", value=f"broker-epoch:{leader}"),
        v.BrokerEpochAbove(
            as_="re-registered",
            node=leader,
            value="$successor-epoch",
            within_ms=draft.timing.lease_ms,
            expect=not_again,
        ),
        *_predecessor(target, leader),
    ]
    return draft.plan(
        steps,
        v.Attempted(by="p1", after="stall-in.proven", before="kill.injected"),
        v.acknowledged("release-out.ended"),
        "registered" if target.leader_driven else "predecessor",
    )


def control_receivers(target: v.TargetFacts, followers: Sequence[str]) -> tuple[str, ...]:
    """Return the nodes that receive a leader's control requests.

    In ZooKeeper mode the controller is one of the followers, and registration does not go through it. Without a
    controller a leader sends these requests to ZooKeeper.
    """
    if target.leader_driven:
        return ("zookeeper", *followers)
    return tuple(followers) if target.uses_zookeeper else ("controllers", *followers)


def _predecessor(target: v.TargetFacts, broker: str) -> list[v.Step]:
    """Repeat a control request of the dead process, in a design that has one."""
    return [] if target.leader_driven else [_control_request(target, broker)]


def _control_request(target: v.TargetFacts, broker: str) -> v.Step:
    common = {"as": "predecessor", "node": "active-controller", "broker": broker, "unchanged": ("brokers",)}
    if not target.uses_zookeeper:
        asked = {"broker_epoch": "$epoch", "expect": v.answers("D631-19", "error:77")}
        return v.HeartbeatProbe.model_validate({**common, **asked})
    if target.has_kip_343:
        asked = {"incarnation": "$epoch", "expect": v.answers("K343-28", "error:1343")}
        return v.MetadataHeartbeatProbe.model_validate({**common, **asked})
    asked = {"broker_epoch": "$epoch", "expect": v.answers("DINT-24", "error:77")}
    return v.ControlledShutdownProbe.model_validate({**common, **asked})
