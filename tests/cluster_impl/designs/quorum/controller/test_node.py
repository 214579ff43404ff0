"""The failures that end a controller node: its folder or its disk."""

from __future__ import annotations

import asyncio
import errno
import socket
from pathlib import Path
from uuid import UUID

import pytest

from fencepost.cluster_impl.config.nodes import QuorumControllerNodeConfig
from fencepost.cluster_impl.designs.quorum.controller.node import ControllerNode
from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog
from fencepost.cluster_impl.designs.quorum.raft.node import RaftNode
from fencepost.cluster_impl.designs.quorum.raft.replicated_log import CommittedRecordsAtRisk
from fencepost.cluster_impl.failures import NodeFailure, StartupError
from fencepost.cluster_impl.node import run_node
from fencepost.cluster_impl.storage.checkpoints import REPLICATION_OFFSETS
from fencepost.cluster_impl.storage.directory import LogDirError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import Malformed
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.records import encode_record
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from tests.cluster_impl.configs import config_of

TIMEOUT_S = 30.0


def config(folder: Path) -> QuorumControllerNodeConfig:
    """The only voter of its quorum."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{probe.getsockname()[1]}"
    return config_of(
        QuorumControllerNodeConfig,
        {
            "process.roles": "controller",
            "controller.id": "1",
            "cluster.id": "c",
            "controller.connect": f"1@{at}",
            "controller.listeners": "CONTROLLER",
            "listeners": f"CONTROLLER://{at}",
            "log.dirs": str(folder),
        },
    )


def metadata(folder: Path) -> Path:
    path = folder / "__kafka_metadata-0"
    path.mkdir()
    return path


def refusal(folder: Path) -> str:
    """Return the message of a node that cannot start."""

    async def scenario() -> str:
        node = ControllerNode(config(folder))
        try:
            with pytest.raises(LogDirError) as refused:
                await node.start()
        finally:
            await node.stop()
        return str(refused.value)

    return asyncio.run(scenario())


def test_a_damaged_quorum_state_is_a_message(tmp_path: Path) -> None:
    (metadata(tmp_path) / "quorum-state").write_text("{}")
    assert "quorum-state is damaged" in refusal(tmp_path)


def test_a_log_whose_quorum_state_is_gone_is_not_taken_for_that_of_a_new_voter(tmp_path: Path) -> None:
    written = MetadataLog(metadata(tmp_path))
    written.append_records(0, 3, [b"a"])
    written.close()
    assert "quorum-state is missing" in refusal(tmp_path)


def test_a_damaged_checkpoint_is_a_message(tmp_path: Path) -> None:
    (tmp_path / REPLICATION_OFFSETS).write_text("damaged")
    with pytest.raises(StartupError, match="does not begin with version 0"):
        asyncio.run(run_node(config(tmp_path)))


def fails(self: MetadataLog) -> None:
    raise OSError(errno.EIO, "the disk is gone")


async def test_a_disk_that_fails_ends_the_node_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = ControllerNode(config(tmp_path))
    monkeypatch.setattr(MetadataLog, "flush", fails)
    await node.start()
    async with asyncio.timeout(TIMEOUT_S):
        with pytest.raises(NodeFailure, match="the disk is gone"):
            await node.failed()
    await node.stop()


@pytest.mark.parametrize(
    "error", [CommittedRecordsAtRisk("committed metadata was lost elsewhere"), Malformed("type 99 is unknown")]
)
def test_whatever_else_a_controller_ends_of_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def failed(self: RaftNode) -> None:
        raise error

    monkeypatch.setattr(RaftNode, "failed", failed)
    node = ControllerNode(config(tmp_path))
    with pytest.raises(NodeFailure, match=str(error)):
        asyncio.run(node.failed())


async def test_a_node_stops_in_order_also_when_its_last_flush_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config(tmp_path)
    node = ControllerNode(settings)
    await node.start()
    monkeypatch.setattr("fencepost.cluster_impl.storage.log.Log.flush", fails)
    await node.stop()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(settings.listeners[0].host, settings.listeners[0].port)


async def error_of_creating(settings: QuorumControllerNodeConfig, name: str) -> int:
    """Run the node until it is active, ask it for a topic, and stop it again."""
    node = ControllerNode(settings)
    await node.start()
    at = settings.listeners[0]
    connection = await Connection.open(at.host, at.port, QUORUM_CONTROLLER, "test", hosts=Hosts(), timeout=TIMEOUT_S)
    wanted = m.CreateTopicsRequest(topics=[m.CreateTopicsRequest.CreatableTopic(name=name, num_partitions=0)])
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                error = (await connection.request(wanted, 7, timeout=TIMEOUT_S)).topics[0].error_code
                if error != Error.NOT_CONTROLLER:
                    return error
                await asyncio.sleep(0.02)
    finally:
        connection.close()
        await node.stop()


@pytest.mark.requirement("K631-20")
async def test_a_controller_reads_a_log_with_tagged_fields_that_it_does_not_know(tmp_path: Path) -> None:
    settings = config(tmp_path)
    assert await error_of_creating(settings, "t") == Error.INVALID_PARTITIONS
    log = MetadataLog(tmp_path / "__kafka_metadata-0")
    newer = m.TopicRecord(name="t", topic_id=UUID(int=1), unknown_tags={3: b"of newer software", 99: b""})
    end = log.recovered.shape.end
    log.append_records(end.end_offset, end.epoch, [encode_record(newer)])
    log.close()
    assert await error_of_creating(settings, "t") == Error.TOPIC_ALREADY_EXISTS
