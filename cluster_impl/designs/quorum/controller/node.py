"""A controller node: Raft over the metadata log, the controller above it, and one listener for both."""

from __future__ import annotations

from cluster_impl.config import NodeConfig
from cluster_impl.designs.quorum.controller.controller import Controller
from cluster_impl.designs.quorum.controller.topics import TopicDefaults
from cluster_impl.designs.quorum.quorum_config import raft_config
from cluster_impl.designs.quorum.raft.node import RaftNode
from cluster_impl.endings import NodeFailure
from cluster_impl.security.cluster_action import guarded_on_controller
from cluster_impl.security.configured import authorizer_of, users_of
from cluster_impl.storage.directory import LogDir
from cluster_impl.wire.codec import Malformed
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.registry import QUORUM_CONTROLLER
from cluster_impl.wire.server import Server


class ControllerNode:
    """Implements `cluster_impl.node.Node`."""

    def __init__(self, config: NodeConfig) -> None:
        self._config = config
        self._log_dir = LogDir.open(config.log_dir, config.cluster_id, config.controller_id)
        self._controller = Controller(
            config.controller_id,
            frozenset(voter.id for voter in config.voters),
            config.lease_timeout,
            TopicDefaults(config.num_partitions, config.default_replication_factor),
        )
        self._raft = RaftNode(raft_config(config), self._log_dir, Hosts.load(config.hosts_file), self._controller)
        self._controller.attach(self._raft)
        self._server = Server(
            QUORUM_CONTROLLER,
            guarded_on_controller({**self._raft.handlers, **self._controller.handlers}, authorizer_of(config.security)),
            max_frame_bytes=config.socket_request_max_bytes,
        )

    async def start(self) -> None:
        for listener in self._config.listeners:
            users = users_of(self._config.security, listener.name)
            await self._server.listen(listener.host, listener.port, listener.name, users)
        await self._raft.start()

    async def failed(self) -> None:
        try:
            await self._raft.failed()
        except OSError as error:
            raise NodeFailure(f"the disk of {self._config.log_dir} fails: {error}") from error
        except Malformed as error:
            raise NodeFailure(f"this software cannot read the metadata: {error}") from error

    async def stop(self) -> None:
        """Leave the quorum to the others, who elect another leader at once if this one led."""
        self._controller.close()
        await self._raft.close()
        await self._server.close()
        self._log_dir.close()
