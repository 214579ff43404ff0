"""The heartbeat of the draft in the name of a broker, with the listeners that a plan gives it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import pytest
from kio.schema.errors import ErrorCode
from kio.static.primitive import i8, i32, i32Timedelta, i64

from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.engine.probes.asked import AskedRun
from fencepost.harness.plan.answers import ProbeOutcome
from fencepost.harness.plan.requests.heartbeat import HeartbeatProbe
from fencepost.harness.wire.entities import own_module
from tests.harness.engine.still_context import healthy, still_context

GRANTED = own_module(50, 0).BrokerHeartbeatResponse(
    throttle_time=i32Timedelta.parse(timedelta()),
    error_code=ErrorCode.none,
    active_controller_id=i32(2),
    next_state=i8(2),
    broker_epoch=i64(9),
    lease_end_time_ms=i64(0),
)


@pytest.fixture
def run(tmp_path: Path) -> AskedRun:
    return AskedRun(still_context(tmp_path, healthy()), "node-2")


@pytest.mark.parametrize(("port", "sent"), [(None, 9092), (32767, 32767), (40000, 40000 - 65536)])
def test_a_heartbeat_names_the_port_that_the_plan_has(run: AskedRun, port: int | None, sent: int) -> None:
    asked: list[Any] = []
    connection = create_autospec(RawConnection, instance=True)

    def grant(request: Any, *_: object) -> Any:
        asked.append(request)
        return GRANTED

    connection.newest.return_value = own_module(50, 0)
    connection.call.side_effect = grant
    guest = HeartbeatProbe(node="node-2", broker="node-5", broker_epoch=-1, state="initial", client_port=port)
    assert guest.exchange(connection, run).outcome is ProbeOutcome.SERVED
    assert [(each.name, each.port) for each in asked[0].listeners] == [("INTERNAL", 9090), ("CLIENT", sent)]
