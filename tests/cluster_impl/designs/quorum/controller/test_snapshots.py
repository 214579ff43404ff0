"""Snapshots that the active controller starts, on controllers over real sockets and files."""

from __future__ import annotations

import socket
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.nodes import QuorumControllerNodeConfig
from fencepost.cluster_impl.designs.quorum.controller.node import ControllerNode
from fencepost.cluster_impl.designs.quorum.features import METADATA_FORMAT, SUPPORTED
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from tests.cluster_impl.configs import config_of
from tests.waiting import until

pytestmark = pytest.mark.integration

LAG = 30


class Controllers:
    """Three controllers that make a snapshot every `LAG` records."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
        self.ports = {number: each.getsockname()[1] for number, each in enumerate(sockets, start=1)}
        for each in sockets:
            each.close()
        self.nodes: dict[int, ControllerNode] = {}

    async def start(self, number: int) -> None:
        voters = ",".join(f"{each}@127.0.0.1:{port}" for each, port in self.ports.items())
        properties = {
            "process.roles": "controller",
            "controller.id": str(number),
            "cluster.id": "c",
            "controller.connect": voters,
            "controller.listeners": "CONTROLLER",
            "listeners": f"CONTROLLER://127.0.0.1:{self.ports[number]}",
            "log.dirs": str(self.folder / str(number)),
            "controller.heartbeat.interval.ms": "50",
            "controller.quorum.election.timeout.ms": "300",
            "controller.quorum.fetch.timeout.ms": "600",
            "controller.quorum.request.timeout.ms": "500",
            "metadata.snapshot.max.lag.records": str(LAG),
        }
        node = ControllerNode(config_of(QuorumControllerNodeConfig, properties))
        self.nodes[number] = node
        await node.start()

    async def stop(self, number: int) -> None:
        await self.nodes.pop(number).stop()

    async def register(self, times: int) -> None:
        """Register broker 4 again and again: two records each time but the first."""
        done = 0
        while done < times:
            for number in list(self.nodes):
                done += await self._register_at(number, times - done)

    async def _register_at(self, number: int, times: int) -> int:
        has = SUPPORTED[METADATA_FORMAT]
        level = m.BrokerHeartbeatRequest.SupportedFeature(
            name=METADATA_FORMAT, min_version=has.lowest, max_version=has.highest
        )
        request = m.BrokerHeartbeatRequest(
            target_state=FenceState.INITIAL, broker_id=4, broker_epoch=-1, features=[level]
        )
        try:
            connection = await Connection.open(
                "127.0.0.1", self.ports[number], QUORUM_CONTROLLER, "test", hosts=Hosts(), timeout=5
            )
        except ConnectionError:
            return 0
        try:
            for done in range(times):
                if (await connection.request(request, 0, timeout=5)).error_code != Error.NONE:
                    return done
            return times
        except (ConnectionError, TimeoutError):
            return 0
        finally:
            connection.close()

    def snapshots(self, number: int) -> list[str]:
        return sorted(path.name for path in (self.folder / str(number)).glob("*/*.checkpoint"))


@pytest.mark.requirement("K631-24", "K631-25", "K631-60")
async def test_every_controller_makes_snapshots_and_one_that_was_away_too_long_fetches_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    controllers = Controllers(tmp_path)
    async with AsyncExitStack() as stack:
        for number in (1, 2, 3):
            await controllers.start(number)
        await controllers.register(LAG)
        await until(lambda: all(controllers.snapshots(number) for number in (1, 2, 3)), "all have a snapshot")
        await controllers.stop(3)
        before = controllers.snapshots(3)
        with caplog.at_level("INFO"):
            for _ in range(3):
                newest = [controllers.snapshots(number)[-1] for number in (1, 2)]
                await controllers.register(LAG)
                await until(
                    lambda newest=newest: all(  # type: ignore[misc]
                        controllers.snapshots(number)[-1] > name for number, name in zip((1, 2), newest, strict=True)
                    ),
                    "both have another snapshot",
                )
            await controllers.start(3)
            await until(lambda: "fetched the snapshot at" in caplog.text, "the third has fetched a snapshot")
        assert set(controllers.snapshots(3)).isdisjoint(before)
        for number in (1, 2, 3):
            stack.push_async_callback(controllers.stop, number)
