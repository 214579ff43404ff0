"""Records of brokers and ISRs: a registration that ends, the next one, and what is refused of the earlier one."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631.metadata_log import log_holds

GUEST = v.node_name(v.GUEST_ID)
HIGH_PORT = 40_000
"""A port that is negative as an int16."""
HIGH_PORT_ON_THE_WIRE = HIGH_PORT - 65_536


def shrunk(ids: list[int], leader: str, second: str) -> list[v.Step]:
    """Let the follower leave the ISR and come back, under one leader. Meanwhile another process takes its id."""
    return [
        v.Bind(as_="before-shrink", value="leader-epoch:t-0"),
        v.inject("stall", v.StallParameters(from_=second, to=leader)),
        v.IsrIs(as_="left", partition="t-0", is_=leader, expect=v.must("ISR-05")),
        v.Bind(as_="shrunk-epoch", value="leader-epoch:t-0"),
        v.ReplicaFetchProbe(
            as_="epoch-behind",
            node=leader,
            topic="t",
            broker=second,
            leader_epoch="$before-shrink",
            timeout_ms=5000,
            expect=v.answers("D631-18", "error:74"),
            unchanged=("t-0",),
        ),
        log_holds(
            "isr-change",
            {"record": "IsrChangeRecord", "topic_id": "$t-id", "partition_id": 0, "leader_epoch": "$shrunk-epoch"},
            {"log[].leader": [ids[0]], "log[0].isr": [ids[0]]},
            "K631-65",
        ),
        *_restarted(leader, second),
        v.Heal(as_="mend", fault="stall"),
        v.IsrIs(as_="caught-up", partition="t-0", is_=(leader, second), expect=v.must("D631-18", "ISR-06")),
        v.Bind(as_="grown-epoch", value="leader-epoch:t-0"),
        log_holds(
            "isr-change-back",
            {"record": "IsrChangeRecord", "topic_id": "$t-id", "partition_id": 0, "leader_epoch": "$grown-epoch"},
            {"log[].leader": [ids[0]], "log[0].isr[]": sorted([ids[0], ids[2]])},
            "K631-65",
        ),
    ]


def _restarted(leader: str, second: str) -> list[v.Step]:
    """Replace the process of a replica outside the ISR: no change that was made for the earlier one adds it.

    Of the topic that was placed it leaves every ISR.
    """
    return [
        v.Bind(as_="earlier-registration", value=f"broker-epoch:{second}"),
        v.inject("kill", v.KillParameters(nodes=second, back="running")),
        v.Heal(as_="restart", fault="kill"),
        v.BrokerEpochAbove(as_="registered-anew", node=second, value="$earlier-registration", expect=v.must("K631-41")),
        v.BrokerActive(as_="active-anew", node=second, expect=v.must("K631-34")),
        v.AlterIsrProbe(
            as_="for-the-earlier",
            node="active-controller",
            topic="t",
            broker=leader,
            leader_epoch="$shrunk-epoch",
            version="$shrunk-epoch",
            isr=(leader, second),
            timeout_ms=5000,
            expect=v.answers("D631-25", "error:95"),
        ),
        log_holds(
            "registration-over",
            {"record": "DeleteBrokerRecord", "id": v.node_id(second)},
            {"log[0].id": v.node_id(second)},
            "K631-67",
        ),
    ]


def registered_at_a_high_port(leader: str) -> list[v.Step]:
    """Register a broker whose port is above 32767, and let its lease run out."""
    record = {"record": "BrokerRecord", "broker_id": v.GUEST_ID}
    return [
        v.HeartbeatProbe(
            as_="guest",
            node="active-controller",
            broker=GUEST,
            broker_epoch=-1,
            state="initial",
            metadata_offset=0,
            client_port=HIGH_PORT,
            timeout_ms=5000,
            expect=v.serves("K631-34"),
        ),
        log_holds(
            "high-port",
            record,
            {
                "log[0].end_points[name=CLIENT].port": HIGH_PORT_ON_THE_WIRE,
                "log[0].end_points[name=CLIENT].host": GUEST,
            },
            "D631-22",
            "K631-61",
        ),
        v.listed_topics(
            "port-listed", leader, [], v.serves("D631-22"), answer={f"brokers[node_id={v.GUEST_ID}].port": HIGH_PORT}
        ),
        log_holds(
            "lease-over", {"record": "DeleteBrokerRecord", "id": v.GUEST_ID}, {"log[].id": [v.GUEST_ID]}, "K631-67"
        ),
    ]
