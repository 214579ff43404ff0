"""Heartbeats that reach a broker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.nodes import QuorumBrokerNodeConfig
from fencepost.cluster_impl.designs.quorum.broker.node import BrokerNode
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import KAFKA, QUORUM_BROKER
from tests.cluster_impl.configs import config_of
from tests.cluster_impl.designs.quorum.broker.test_node import free_port

NO_CONTROLLER = -1


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[dict[str, int]]:
    """A broker whose only controller never answers; the port of each listener."""
    ports = {"INTERNAL": free_port(), "CLIENT": free_port()}
    node = BrokerNode(
        config_of(
            QuorumBrokerNodeConfig,
            {
                "process.roles": "broker",
                "broker.id": "4",
                "cluster.id": "c",
                "controller.connect": f"1@127.0.0.1:{free_port()}",
                "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
                "log.dirs": str(folder),
            },
        )
    )
    await node.start()
    try:
        yield ports
    finally:
        await node.stop()


@pytest.mark.requirement("K631-58")
async def test_a_broker_answers_not_controller_and_grants_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as ports:
        connection = await Connection.open("127.0.0.1", ports["INTERNAL"], QUORUM_BROKER, "t", hosts=Hosts(), timeout=5)
        request = m.BrokerHeartbeatRequest(broker_id=4, broker_epoch=7, lease_start_time_ms=1000)
        answer = await connection.request(request, 0, timeout=5)
        assert (answer.error_code, answer.active_controller_id) == (Error.NOT_CONTROLLER, NO_CONTROLLER)
        assert (answer.broker_epoch, answer.lease_end_time_ms) == (-1, 1000)
        refusal = await connection.request(m.ControllerHeartbeatRequest(), 0, timeout=5)
        assert refusal.error_code == Error.NOT_CONTROLLER
        connection.close()


async def test_clients_do_not_see_the_keys(tmp_path: Path) -> None:
    async with running(tmp_path) as ports:
        connection = await Connection.open("127.0.0.1", ports["CLIENT"], KAFKA, "t", hosts=Hosts(), timeout=5)
        versions = await connection.request(m.ApiVersionsRequest(), 3, timeout=5)
        assert {50, 51}.isdisjoint(each.api_key for each in versions.api_keys)
        connection.close()
