"""A controller node: Raft over the metadata log, the controller above it, and one listener for both."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.cluster_impl.config.nodes import QuorumControllerNodeConfig
from fencepost.cluster_impl.designs.quorum.controller.controller import QuorumController
from fencepost.cluster_impl.designs.quorum.controller.controller_heartbeats import ControllerHeartbeats
from fencepost.cluster_impl.designs.quorum.controller.requests import ControllerRequests
from fencepost.cluster_impl.designs.quorum.raft.membership import VoterRequests
from fencepost.cluster_impl.designs.quorum.raft.node import RaftNode
from fencepost.cluster_impl.designs.quorum.raft.peer import PeerBook
from fencepost.cluster_impl.designs.shared.node_shell import NodeShell
from fencepost.cluster_impl.failures import NodeFailure
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.security.cluster_action import require_cluster_action_for_all
from fencepost.cluster_impl.security.configured import access_control_of, authorizer_of
from fencepost.cluster_impl.storage.directory import LogDir
from fencepost.cluster_impl.wire.codec import Malformed
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER


class ControllerNode:
    """Implements `fencepost.cluster_impl.node.Node`."""

    def __init__(self, config: QuorumControllerNodeConfig) -> None:
        quorum = config.quorum
        self._log_dir = LogDir.open(config.log_dir, quorum.cluster_id, config.controller_id)
        self._shell = shell = NodeShell(config)
        shell.closing.callback(self._log_dir.close)
        connect = shell.connector(
            quorum.controller_listener, QUORUM_CONTROLLER, f"controller-{config.controller_id}", of_controllers=True
        )
        self._raft = RaftNode(config.controller_id, quorum, self._log_dir, connect)
        self._controller = QuorumController(
            config.controller_id,
            quorum.voter_ids,
            quorum.lease_timeout,
            self._raft,
            quorum.snapshot_lag,
            quorum.snapshot_timeout,
            quorum.first_metadata_format,
        )
        requests = ControllerRequests(self._controller, config.topics)
        self._heartbeats = ControllerHeartbeats(
            config.controller_id,
            quorum.controller_heartbeat_interval,
            self._raft,
            PeerBook(connect, quorum.request_timeout, self._raft.address_of),
            requests.controller_heartbeat,
        )
        access = access_control_of(config.security, self._controller.access_control_entries)
        self._server = shell.server(
            QUORUM_CONTROLLER,
            require_cluster_action_for_all(
                {
                    **self._raft.handlers,
                    **requests.handlers,
                    **VoterRequests(self._raft, quorum.cluster_id).handlers,
                },
                access or authorizer_of(config.security),
            ),
            self._controller.features,
        )

    async def start(self) -> None:
        """Open the listeners and join the quorum. Raises OSError, CorruptQuorumState, LogGap."""
        closing = self._shell.closing
        await self._shell.listen(lambda _: self._server)
        closing.push_async_callback(self._raft.close)
        closing.callback(self._controller.close)
        await self._raft.start(self._controller)
        closing.push_async_callback(self._heartbeats.close)
        self._heartbeats.start()

    def metrics(self) -> Iterable[Sample]:
        return self._controller.metrics(self._raft.last_stable_offset, self._raft.snapshot_offset)

    async def failed(self) -> None:
        """Wait for ever, or raise NodeFailure: the disk fails, or the metadata is unreadable or at risk."""
        try:
            await self._raft.failed()
        except OSError as error:
            raise NodeFailure(f"the disk of {self._log_dir.path} fails: {error}") from error
        except Malformed as error:
            raise NodeFailure(f"this software cannot read the metadata: {error}") from error

    async def stop(self) -> None:
        """Leave the quorum; if this node leads, the others elect another leader at once."""
        await self._shell.closing.aclose()
