"""A broker node: the replicas and client APIs, driven by the metadata that it follows and the lease that it keeps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from cluster_impl.api.apis import BrokerApis
from cluster_impl.config import NodeConfig
from cluster_impl.config_data_plane import api_config, replication_config
from cluster_impl.designs.quorum.broker.control_plane import QuorumControlPlane
from cluster_impl.designs.quorum.broker.finder import ControllerFinder
from cluster_impl.designs.quorum.broker.heartbeats import Heartbeats, Pace
from cluster_impl.designs.quorum.broker.lifecycle import Lifecycle
from cluster_impl.designs.quorum.broker.link import ControllerLink
from cluster_impl.designs.quorum.broker.metadata import BrokerMetadata
from cluster_impl.designs.quorum.quorum_config import raft_config
from cluster_impl.designs.quorum.raft.observer import MetadataObserver
from cluster_impl.endings import NodeFailure
from cluster_impl.replication.manager import ReplicaManager
from cluster_impl.security.cluster_action import guarded
from cluster_impl.security.configured import authorizer_of, users_of
from cluster_impl.storage.log_dirs import LogDirs
from cluster_impl.wire.codec import Malformed
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.registry import KAFKA
from cluster_impl.wire.server import Server

log = logging.getLogger(__name__)


class BrokerNode:
    """Implements `cluster_impl.node.Node`."""

    def __init__(self, config: NodeConfig) -> None:
        self._config = config
        hosts = Hosts.load(config.hosts_file)
        self._log_dirs = LogDirs.open(config.log_dirs, config.cluster_id, config.broker_id)
        self._lifecycle = Lifecycle()
        self._metadata = BrokerMetadata(config.broker_id, lambda: self._lifecycle.epoch)
        finder = ControllerFinder(config.voters)
        client_id = f"broker-{config.broker_id}"
        raft = raft_config(config)
        heartbeat_link, metadata_link, isr_link, forward_link = self._links = tuple(
            ControllerLink(finder, hosts, client_id, config.request_timeout, raft.login) for _ in range(4)
        )
        self._control = QuorumControlPlane(
            config.broker_id,
            config.cluster_id,
            self._lifecycle,
            self._metadata.image,
            isr_link,
            forward_link,
            finder,
            config.request_timeout,
        )
        self._replicas = ReplicaManager(self._control, replication_config(config), self._log_dirs, hosts)
        self._metadata.attach(self._replicas)
        self._apis = BrokerApis(self._control, self._replicas, api_config(config))
        self._server = Server(
            KAFKA,
            guarded(self._apis.handlers, authorizer_of(config.security)),
            max_frame_bytes=config.socket_request_max_bytes,
        )
        self._observer = MetadataObserver(raft, metadata_link, finder, self._on_records)
        self._heartbeats = Heartbeats(
            config.broker_id,
            config.advertised(),
            self._lifecycle,
            heartbeat_link,
            finder,
            Pace(config.heartbeat_interval, min(config.lease_timeout / 2, config.request_timeout)),
            lambda: self._observer.offset,
            self._metadata.on_epoch,
        )
        self._beating: asyncio.Task[None] | None = None

    async def start(self) -> None:
        for listener in self._config.listeners:
            users = users_of(self._config.security, listener.name)
            await self._server.listen(listener.host, listener.port, listener.name, users)
        await self._replicas.start()
        await self._observer.start()
        self._beating = asyncio.create_task(self._heartbeats.run())

    def _on_records(self, records: Sequence[tuple[int, bytes]]) -> None:
        self._metadata.on_records(records)
        self._heartbeats.metadata_advanced()

    async def failed(self) -> None:
        assert self._beating is not None
        try:
            await asyncio.gather(self._observer.failed(), self._replicas.failed(), asyncio.shield(self._beating))
        except Malformed as error:
            raise NodeFailure(f"this software cannot read the metadata: {error}") from error

    async def stop(self) -> None:
        """Give the id back (KIP-631, Controlled Shutdown), for at most a lease: after that there is nothing to give."""
        self._heartbeats.stop()
        if self._beating is not None:
            _, unfinished = await asyncio.wait({self._beating}, timeout=self._config.lease_timeout)
            if unfinished:
                log.warning("no controller granted the shutdown within a lease; this broker leaves without it")
                self._beating.cancel()
                await asyncio.wait(unfinished)
        self._heartbeats.close()
        await self._server.close()
        self._apis.close()
        await self._observer.close()
        await self._replicas.close()
        for link in self._links:
            link.close()
        self._log_dirs.close()
