"""Heartbeats and ISR changes that are wrong in one way are refused as KIP-343 says, also by a new controller."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

STATE = ("t-0", "u-0", "brokers")
INVALID_INCARNATION = "error:1343"


@v.kip_343_scenario(
    "stale-heartbeats-and-isr-changes",
    "Stale heartbeats and ISR changes, and those not from the leader, are refused and change nothing",
    seconds=18,
)
def build(draft: v.Draft) -> v.Plan:
    """A broker restarts first, so that each request in its name was valid once; then the controller is killed."""
    leader, follower, controller = draft.roles
    steps: list[v.Step] = [
        v.Bind(as_="old", value=f"broker-epoch:{follower}"),
        v.Bind(as_="old-leader-epoch", value="leader-epoch:t-0"),
        v.inject("bounce", v.KillParameters(nodes=follower)),
        v.Registered(as_="gone", node=follower, is_=False, expect=v.must("INT-43")),
        v.Heal(as_="back", fault="bounce"),
        v.BrokerEpochAbove(as_="anew", node=follower, value="$old", expect=v.must("K343-07")),
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("ISR-06")),
        *_heartbeats("", leader, follower),
        *_isr_changes("", leader, follower, controller),
        v.inject("failover", v.KillParameters(nodes=controller)),
        v.ActiveController(as_="elected", is_not=controller, expect=v.must("INT-66")),
        # The new controller grants one full timeout of grace to brokers that it has not heard yet.
        v.BrokerFenced(as_="dropped", node=leader, within_ms=draft.timing.lease_ms // 2, expect=v.never("D343-05")),
        v.LeaderIs(as_="deposed", partition="t-0", is_not=leader, within_ms=200, expect=v.never("D343-05")),
        v.TopicCreatedThrough(as_="works", node=leader, expect=v.must("K343-15")),
        v.Heal(as_="restored", fault="failover"),
        v.IsrIs(as_="whole-again", partition="t-0", has=controller, expect=v.must("ISR-06")),
        _heartbeat("again-lower", follower, v.answers("D343-17", INVALID_INCARNATION), incarnation="$old"),
        _change("again-behind", leader, v.answers("D343-10", "error:6"), leader_epoch="$old-leader-epoch"),
        _change("again-no-replica", leader, v.answers("K343-51", "error:42"), isr="none"),
    ]
    return draft.plan(
        steps,
        "again-no-replica",
        v.acknowledged("elected.ended"),
        topics=[v.topic([leader, follower, controller]), v.topic([leader, follower], name="u")],
    )


def _heartbeats(prefix: str, leader: str, follower: str) -> list[v.Step]:
    return [
        _heartbeat(
            f"{prefix}lower",
            follower,
            v.answers("K343-28", INVALID_INCARNATION, "K343-27", "K343-40"),
            incarnation="$old",
        ),
        # The requested state is not looked at: no leadership moves.
        _heartbeat(
            f"{prefix}lower-stopping",
            leader,
            v.answers("K343-30", INVALID_INCARNATION),
            incarnation="stale",
            state="stopping",
        ),
        v.MetadataHeartbeatProbe(
            as_=f"{prefix}elsewhere",
            node=leader,
            broker=follower,
            expect=v.answers("D343-13", "error:41"),
            unchanged=STATE,
        ),
        _heartbeat(f"{prefix}right", follower, v.serves("K343-42")),
    ]


def _heartbeat(
    as_: str, broker: str, expect: v.ExpectOutcome, *, incarnation: v.Value = "current", state: str = "active"
) -> v.MetadataHeartbeatProbe:
    return v.MetadataHeartbeatProbe.model_validate(
        {
            "as": as_,
            "node": "active-controller",
            "broker": broker,
            "incarnation": incarnation,
            "state": state,
            "expect": expect,
            "unchanged": STATE,
        }
    )


def _isr_changes(prefix: str, leader: str, follower: str, controller: str) -> list[v.Step]:
    invalid = v.answers("D343-11", "error:42")
    stranger = (leader, follower, controller)
    return [
        _change(f"{prefix}not-controller", leader, v.answers("K343-46", "error:41"), node=follower),
        _change(f"{prefix}incarnation", leader, v.answers("K343-47", INVALID_INCARNATION), incarnation="stale"),
        _change(f"{prefix}not-leader", follower, v.answers("K343-50", "error:6")),
        _change(f"{prefix}behind", leader, v.answers("D343-10", "error:6", "ISR-04"), leader_epoch="$old-leader-epoch"),
        _change(f"{prefix}no-replica", leader, v.answers("K343-51", "error:42"), isr="none"),
        _change(f"{prefix}without-leader", leader, invalid, isr=(follower, controller)),
        _change(f"{prefix}stranger", leader, invalid, topic_="u", isr=stranger),
    ]


def _change(
    as_: str,
    broker: str,
    expect: v.ExpectOutcome,
    *,
    node: str = "active-controller",
    topic_: str = "t",
    incarnation: v.Value = "current",
    leader_epoch: v.Value = "current",
    isr: v.NodeRefs | None = None,
) -> v.IsrChangeProbe:
    return v.IsrChangeProbe(
        as_=as_,
        node=node,
        topic=topic_,
        broker=broker,
        incarnation=incarnation,
        leader_epoch=leader_epoch,
        isr=isr,
        expect=expect,
        unchanged=STATE,
    )
