"""A broker and a controller in one process."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.nodes import QuorumCombinedNodeConfig
from fencepost.cluster_impl.designs.quorum.combined import CombinedNode
from fencepost.cluster_impl.designs.quorum.raft.node import RaftNode
from fencepost.cluster_impl.failures import NodeFailure
from fencepost.cluster_impl.metrics.samples import Sample
from tests.cluster_impl.configs import config_of
from tests.waiting import until

TIMEOUT_S = 30.0


def config(folder: Path) -> QuorumCombinedNodeConfig:
    """The only node of its cluster."""
    sockets = [socket.socket() for _ in range(3)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    controller, internal, client = (f"127.0.0.1:{each.getsockname()[1]}" for each in sockets)
    for each in sockets:
        each.close()
    return config_of(
        QuorumCombinedNodeConfig,
        {
            "process.roles": "broker,controller",
            "controller.id": "1",
            "broker.id": "4",
            "cluster.id": "c",
            "controller.connect": f"1@{controller}",
            "controller.listeners": "CONTROLLER",
            "listeners": f"CONTROLLER://{controller},INTERNAL://{internal},CLIENT://{client}",
            "log.dirs": str(folder / "data"),
            "metadata.log.dir": str(folder / "metadata"),
            "registration.heartbeat.interval.ms": "100",
            "controller.quorum.election.timeout.ms": "200",
        },
    )


def value(node: CombinedNode, name: str) -> float:
    samples: dict[str, Sample] = {sample.name: sample for sample in node.metrics()}
    return samples[name].value


@pytest.mark.requirement("K631-03")
async def test_the_broker_of_a_process_gets_its_lease_from_the_controller_of_the_same_process(tmp_path: Path) -> None:
    node = CombinedNode(config(tmp_path))
    await node.start()
    try:
        await until(lambda: value(node, "kafka_server_BrokerServer_Serving") == 1, "the broker serves", TIMEOUT_S)
        assert value(node, "kafka_controller_KafkaController_ActiveControllerCount") == 1
        assert (tmp_path / "metadata" / "__kafka_metadata-0").is_dir()
        assert not (tmp_path / "data" / "__kafka_metadata-0").exists()
    finally:
        async with asyncio.timeout(TIMEOUT_S):
            # The controller of the process has to be there still to grant the shutdown of its broker.
            await node.stop()


async def test_a_failure_of_its_controller_ends_the_whole_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failed(self: RaftNode) -> None:
        raise OSError("no space left")

    node = CombinedNode(config(tmp_path))
    await node.start()
    monkeypatch.setattr(RaftNode, "failed", failed)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            with pytest.raises(NodeFailure, match="no space left"):
                await node.failed()
    finally:
        await node.stop()
