"""The requests of the draft, field by field: heartbeats of brokers and of controllers, and what no node serves."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v

LEASE_MS = 4000
REGISTERED = "node-8"
"""A broker without a process: all heartbeats in its name are those of the plan."""
LEASE_START_MS = 1_000_000
"""A time far from that of every clock."""
UNKNOWN_STATE = 9
OBSOLETE = {"LeaderAndIsr": 4, "StopReplica": 5, "UpdateMetadata": 6, "ControlledShutdown": 7}
METRICS = {"metrics.listener": "{address}:9404"}
_CONTROLLER = "kafka_controller_KafkaController_"


@v.scenario(
    "drafted-requests",
    "Heartbeats are those of the draft, field by field, and what the draft removed is not served",
    seconds=12,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def build(draft: v.Draft) -> v.Plan:
    """A broker registers, is fenced, becomes active and stops, all by hand; then a leader says that its lease ran out.

    The leader's own process learns of it by its next heartbeat, and comes back once the lease of the plan's heartbeat
    is over.
    """
    leader = draft.leader
    draft = draft.timed(lease_ms=LEASE_MS)
    steps: list[v.Step] = [
        *_not_served(leader),
        *_metrics(leader),
        v.Connected(as_="fetches", node=leader, to="active-controller", expect=v.must("K631-52")),
        *_by_hand(draft.timing.lease_ms),
        v.MetadataFrom(as_="stopped", node=leader, lacks=REGISTERED, expect=v.must("K631-45")),
        *_of_controllers(),
        v.Bind(as_="leader-epoch", value=f"broker-epoch:{leader}"),
        _heartbeat(
            "ran-out",
            "served",
            "D631-24",
            broker=leader,
            broker_epoch="$leader-epoch",
            state="fenced",
            answer={"next_state": "fenced", "lease_ms": draft.timing.lease_ms},
        ),
        v.IsrIs(as_="stays", partition="t-0", has=leader, within_ms=1000, expect=v.must("D631-24")),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("D631-24")),
        v.BrokerEpochAbove(as_="anew", node=leader, value="$leader-epoch", expect=v.must("D631-24", "D631-08")),
    ]
    registered = v.NodeSpec(name=REGISTERED, id=8, index=8, roles=("broker",), start="later")
    return draft.plan(
        steps, "anew", v.acknowledged("anew.ended"), topology=_with_metrics(v.quorum_cluster(more=[registered]))
    )


def _heartbeat(name: str, outcome: str, *rules: str, **more: Any) -> v.Step:
    rule, *also = rules
    values = {"node": "active-controller", "broker": REGISTERED, "timeout_ms": 5000, **more}
    return v.HeartbeatProbe.model_validate({"as": name, "expect": v.answers(rule, outcome, *also), **values})


def _by_hand(lease_ms: int) -> list[v.Step]:
    """Register a broker, and bring it to its end, by heartbeats alone."""
    leased = {"lease_ms": lease_ms}
    return [
        _heartbeat(
            "registers",
            "served",
            *("K631-26", "K631-33", "K631-54", "K631-55", "K631-56"),
            state="initial",
            broker_epoch=-1,
            lease_start_ms=LEASE_START_MS,
            answer={"next_state": "fenced", **leased},
        ),
        v.BrokerEpochAbove(as_="registered", node=REGISTERED, value=0, expect=v.must("K631-26")),
        v.Bind(as_="epoch", value=f"broker-epoch:{REGISTERED}"),
        _heartbeat(
            "is-behind",
            "served",
            *("K631-27", "D631-10"),
            broker_epoch="$epoch",
            metadata_offset=0,
            answer={"next_state": "fenced", "broker_epoch": "$epoch", **leased},
        ),
        _heartbeat(
            "caught-up",
            "served",
            *("K631-34", "K631-20"),
            broker_epoch="$epoch",
            unknown_tag=True,
            answer={"next_state": "active", "broker_epoch": "$epoch", **leased},
        ),
        _heartbeat("in-no-state", "error:42", "K631-59", broker_epoch="$epoch", state=UNKNOWN_STATE),
        _heartbeat(
            "stops",
            "served",
            "K631-45",
            broker_epoch="$epoch",
            state="shutdown",
            answer={"next_state": "shutdown", "lease_ms": 0},
        ),
    ]


def _with_metrics(topology: v.Topology) -> v.Topology:
    nodes = (node.model_copy(update={"settings": METRICS}) if node.start == "now" else node for node in topology.nodes)
    return topology.model_copy(update={"nodes": tuple(nodes)})


def _not_served(broker: str) -> list[v.Step]:
    """Neither brokers nor controllers offer the requests by which a controller with ZooKeeper commands."""
    absent = {f"api_keys[api_key={key}]": None for key in OBSOLETE.values()}
    return [
        *(
            v.ask(
                f"offers-{name}",
                node,
                "api_versions",
                {},
                v.serves("K631-52", "K631-53"),
                version=0,
                answer=absent,
                timeout_ms=1000,
            )
            for name, node in (("broker", broker), ("controller", "active-controller"))
        ),
        v.ControlledShutdownProbe(
            as_="old-shutdown",
            node="active-controller",
            broker=broker,
            expect=v.answers("K631-53", "refused"),
            unchanged=("t-0", "brokers"),
        ),
    ]


def _metrics(broker: str) -> list[v.Step]:
    """Metrics of the document, by their names; there is no lag when nothing changes."""

    def metrics(name: str, node: str, rule: str, *, equal: dict[str, float], above: dict[str, float]) -> v.Step:
        return v.MetricsProbe(
            as_=name,
            node=node,
            equal=equal,
            above=above,
            timeout_ms=5000,
            within_ms=v.LIVENESS_TIMEOUT_MS,
            expect=v.serves(rule),
        )

    of_active = {"MetadataCommitLatencyMs_count": 0.0, "MetadataCommitRate": 0.0, "ControllerRequestsRate": 0.0}
    return [
        metrics("lag-of-broker", broker, "K631-69", equal={"kafka_controller_KafkaServer_MetadataLag": 0}, above={}),
        metrics(
            "lag-of-controller",
            "active-controller",
            "K631-69",
            equal={f"{_CONTROLLER}MetadataLag": 0, f"{_CONTROLLER}ActiveControllerCount": 1},
            above={},
        ),
        metrics(
            "of-controller",
            "active-controller",
            "K631-70",
            equal={},
            above={_CONTROLLER + name: value for name, value in {**of_active, "MetadataSnapshotLag": 0.0}.items()},
        ),
    ]


def _of_controllers() -> list[v.Step]:
    """The active controller answers the heartbeat of another; one that is not active names its error."""
    return [
        v.ControllerHeartbeatProbe(
            as_="controller-heartbeat",
            node="active-controller",
            controller="standby-controller",
            timeout_ms=5000,
            expect=v.serves("K631-60"),
        ),
        v.ControllerHeartbeatProbe(
            as_="misdirected-heartbeat",
            node="standby-controller",
            controller="active-controller",
            timeout_ms=5000,
            expect=v.answers("K631-60", "error:41"),
        ),
    ]
