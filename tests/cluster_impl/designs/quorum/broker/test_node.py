"""The failures that end a broker node."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.nodes import QuorumBrokerNodeConfig
from fencepost.cluster_impl.designs.quorum.broker.node import BrokerNode
from fencepost.cluster_impl.designs.quorum.raft.observer import MetadataGone, MetadataObserver
from fencepost.cluster_impl.failures import NodeFailure
from fencepost.cluster_impl.wire.codec import Malformed
from tests.cluster_impl.configs import config_of


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("error", [MetadataGone("committed metadata is gone"), Malformed("type 99 is unknown")])
async def test_metadata_that_it_cannot_follow_ends_a_broker_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def failed(self: MetadataObserver) -> None:
        raise error

    monkeypatch.setattr(MetadataObserver, "failed", failed)
    node = BrokerNode(
        config_of(
            QuorumBrokerNodeConfig,
            {
                "process.roles": "broker",
                "broker.id": "4",
                "cluster.id": "c",
                "controller.connect": f"1@127.0.0.1:{free_port()}",
                "listeners": f"INTERNAL://127.0.0.1:{free_port()},CLIENT://127.0.0.1:{free_port()}",
                "log.dirs": str(tmp_path),
            },
        )
    )
    await node.start()
    with pytest.raises(NodeFailure, match=str(error)):
        await node.failed()
    await node.stop()
