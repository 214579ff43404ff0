"""Nodes speak the requests of the draft, as the harness's own definitions, which share no code with them, read them."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i8, i32, i32Timedelta, i64

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.registry import KAFKA, QUORUM_CONTROLLER
from fencepost.harness.plan.requests.heartbeat import EVERY_LEVEL, DraftBrokerState
from fencepost.harness.wire.entities import entity, own_module

DRAFTED = own_module(50, 0)
LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA, CONTROLLED_SHUTDOWN = 4, 5, 6, 7


@pytest.mark.requirement("K631-54")
def test_a_heartbeat_has_the_bytes_of_the_draft() -> None:
    ours = m.BrokerHeartbeatRequest(
        target_state=DraftBrokerState.ACTIVE,
        broker_id=4,
        broker_epoch=17,
        lease_start_time_ms=1000,
        cur_metadata_offset=42,
        listeners=[m.BrokerHeartbeatRequest.Listener(name="CLIENT", host="node-4", port=9092, security_protocol=0)],
        features=[m.BrokerHeartbeatRequest.SupportedFeature(name="metadata.format", min_version=1, max_version=32767)],
    )
    body = {
        "target_state": DraftBrokerState.ACTIVE,
        "broker_id": 4,
        "broker_epoch": 17,
        "lease_start_time_ms": 1000,
        "cur_metadata_offset": 42,
        "listeners": [{"name": "CLIENT", "host": "node-4", "port": 9092}],
        "features": [EVERY_LEVEL],
    }
    out = io.BytesIO()
    entity_writer(DRAFTED.BrokerHeartbeatRequest)(out, entity(DRAFTED.BrokerHeartbeatRequest, body))
    assert ours.encode(0) == out.getvalue()
    assert (m.BrokerHeartbeatRequest.API_KEY, m.BrokerHeartbeatRequest.FLEXIBLE_FROM) == (50, 0)


@pytest.mark.requirement("K631-55")
def test_the_answer_to_a_heartbeat_has_the_bytes_of_the_draft() -> None:
    ours = m.BrokerHeartbeatResponse(
        error_code=77,
        active_controller_id=1,
        next_state=DraftBrokerState.FENCED,
        broker_epoch=-1,
        lease_end_time_ms=2500,
    )
    drafted, size = entity_reader(DRAFTED.BrokerHeartbeatResponse)(ours.encode(0), 0)
    assert size == len(ours.encode(0))
    assert drafted == DRAFTED.BrokerHeartbeatResponse(
        throttle_time=i32Timedelta.parse(timedelta()),
        error_code=ErrorCode.stale_broker_epoch,
        active_controller_id=i32(1),
        next_state=i8(DraftBrokerState.FENCED),
        broker_epoch=i64(-1),
        lease_end_time_ms=i64(2500),
    )


@pytest.mark.requirement("K631-52", "K631-53")
def test_no_node_serves_the_requests_that_the_quorum_made_obsolete() -> None:
    served = set(KAFKA) | set(QUORUM_CONTROLLER)
    assert not served & {LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA, CONTROLLED_SHUTDOWN}
