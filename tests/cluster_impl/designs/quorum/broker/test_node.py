"""The start of a broker node, and the failures that end it."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.nodes import QuorumBrokerNodeConfig
from fencepost.cluster_impl.designs.quorum.broker.node import BrokerNode
from fencepost.cluster_impl.designs.quorum.raft.observer import MetadataGone, MetadataObserver
from fencepost.cluster_impl.failures import NodeFailure
from fencepost.cluster_impl.storage.log import Log
from fencepost.cluster_impl.wire.codec import Malformed
from tests.cluster_impl.configs import config_of
from tests.cluster_impl.storage.records import batch

START_WITHIN = 20.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def broker_on(folder: Path, client_port: int) -> BrokerNode:
    """Return a broker whose only controller never answers."""
    return BrokerNode(
        config_of(
            QuorumBrokerNodeConfig,
            {
                "process.roles": "broker",
                "broker.id": "4",
                "cluster.id": "c",
                "controller.connect": f"1@127.0.0.1:{free_port()}",
                "listeners": f"INTERNAL://127.0.0.1:{free_port()},CLIENT://127.0.0.1:{client_port}",
                "log.dirs": str(folder),
            },
        )
    )


@pytest.mark.parametrize("error", [MetadataGone("committed metadata is gone"), Malformed("type 99 is unknown")])
async def test_metadata_that_it_cannot_follow_ends_a_broker_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def failed(self: MetadataObserver) -> None:
        raise error

    monkeypatch.setattr(MetadataObserver, "failed", failed)
    node = broker_on(tmp_path, free_port())
    await node.start()
    with pytest.raises(NodeFailure, match=str(error)):
        await node.failed()
    await node.stop()


@pytest.mark.requirement("LIVE-07")
async def test_a_broker_that_finds_partitions_on_its_disk_listens(tmp_path: Path) -> None:
    found = tmp_path / "t-0"
    found.mkdir()
    log = Log.open(found)
    log.append_as_leader(batch(3), 1)
    log.close()
    port = free_port()
    node = broker_on(tmp_path, port)
    async with asyncio.timeout(START_WITHIN):
        await node.start()
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    await node.stop()
