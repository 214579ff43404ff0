"""Events by probes: the order of refusals, and the scope of events without partitions or topics."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

STATE = ("t-0", "u-0", "v-0", "brokers")
ALICE = "alice"
ONE = (v.EventTopic(topic="t", partitions=(0,)),)


@v.replica_state_event_scenario(
    "replica-state-events-refused",
    "Events without permission, of another epoch or type, or of unknown replicas, are refused",
    seconds=10,
)
def refused(draft: v.Draft) -> v.Plan:
    """Events are wrong in one way, then in two, which shows the order of checks. `v` has no replica on the broker."""
    leader, broker, controller = draft.roles

    def event(
        as_: str,
        expect: v.ExpectOutcome,
        *,
        node: str = "active-controller",
        topics: tuple[v.EventTopic, ...] = ONE,
        broker_epoch: str = "current",
        event_type: int = 1,
        user: str | None = None,
    ) -> v.ReplicaStateEventProbe:
        return v.ReplicaStateEventProbe(
            as_=as_,
            node=node,
            broker=broker,
            broker_epoch=broker_epoch,
            event_type=event_type,
            topics=topics,
            user=user,
            expect=expect,
            unchanged=STATE,
        )

    unknown = (v.EventTopic(topic="nowhere", partitions=(0,)),)
    foreign = (v.EventTopic(topic="v", partitions=(0,)),)
    beyond = (v.EventTopic(topic="t", partitions=(7,)),)
    steps: list[v.Step] = [
        event("forbidden", v.answers("RSE-13", "error:31", "RSE-10", "DRSE-05"), user=ALICE),
        event("not-controller", v.answers("RSE-15", "error:41"), node=leader),
        event("stale", v.answers("RSE-14", "error:77"), broker_epoch="stale"),
        event("type-0", v.answers("RSE-16", "error:1589", "RSE-21"), event_type=0),
        event("type-2", v.answers("RSE-25", "error:1589"), event_type=2),
        event("unknown-topic", v.answers("RSE-18", "error:3"), topics=unknown),
        event("unknown-partition", v.answers("RSE-18", "error:3", "RSE-12", "DRSE-02"), topics=beyond),
        event("not-its-own", v.answers("RSE-17", "error:42"), topics=foreign),
        event("forbidden-stale-type", v.answers("DRSE-04", "error:31"), user=ALICE, broker_epoch="stale", event_type=2),
        event("elsewhere-stale", v.answers("DRSE-04", "error:41"), node=leader, broker_epoch="stale"),
        event("stale-type", v.answers("DRSE-04", "error:77"), broker_epoch="stale", event_type=2),
        event("type-unknown-topic", v.answers("DRSE-04", "error:1589"), event_type=2, topics=unknown),
    ]
    return draft.plan(
        steps,
        "type-unknown-topic",
        v.acknowledged("type-unknown-topic.ended"),
        topics=[
            v.topic([leader, broker, controller]),
            v.topic([broker, leader], name="u"),
            v.topic([leader, controller], name="v"),
        ],
        security="sasl",
    )


@v.replica_state_event_scenario(
    "replica-state-events-accepted",
    "An event without partitions covers the whole topic, and one without topics covers all topics",
    seconds=12,
)
def accepted(draft: v.Draft) -> v.Plan:
    """First an event about one topic, then one about all topics; a restart of the broker undoes both."""
    leader, broker, controller = draft.roles
    common = {"node": "active-controller", "broker": broker}
    steps: list[v.Step] = [
        v.ReplicaStateEventProbe.model_validate(
            {"as": "of-a-topic", **common, "topics": (v.EventTopic(topic="t"),), "expect": v.serves("RSE-28")}
        ),
        v.IsrIs(as_="left-t", partition="t-0", lacks=broker, expect=v.must("RSE-28")),
        v.ReplicaOffline(as_="offline-t", node=broker, partition="t-0", expect=v.must("RSE-29", "RSE-23")),
        v.LeaderIs(as_="keeps-u", partition="u-0", is_=broker, within_ms=1000, expect=v.must("RSE-28")),
        v.ReplicaStateEventProbe.model_validate({"as": "of-all", **common, "expect": v.serves("RSE-27")}),
        v.LeaderIs(as_="left-u", partition="u-0", is_not=broker, expect=v.must("RSE-27")),
        v.Shutdown(as_="stop", nodes=broker),
        v.Start(as_="start", nodes=broker),
        v.IsrIs(as_="back-t", partition="t-0", has=broker, expect=v.must("DRSE-09")),
        v.IsrIs(as_="back-u", partition="u-0", has=broker, expect=v.must("DRSE-09")),
    ]
    return draft.plan(
        steps,
        "left-u",
        v.acknowledged("start.ended"),
        topics=[v.topic([leader, broker, controller]), v.topic([broker, leader], name="u", min_isr=1)],
    )
