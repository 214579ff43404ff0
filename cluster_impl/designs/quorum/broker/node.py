"""A broker node: the replicas and client APIs, driven by the metadata that it follows and the lease that it holds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from fencepost.cluster_impl.api.apis import BrokerApis
from fencepost.cluster_impl.api.authorization.guard import authorized
from fencepost.cluster_impl.api.fetch_sessions import FetchSessions
from fencepost.cluster_impl.config.nodes import QuorumBrokerNodeConfig
from fencepost.cluster_impl.designs.quorum.broker.control_plane import QuorumControlPlane
from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.heartbeats import LeaseHeartbeats, reported
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
from fencepost.cluster_impl.designs.quorum.broker.metadata import BrokerMetadata
from fencepost.cluster_impl.designs.quorum.broker.misdirected import MisdirectedHeartbeats
from fencepost.cluster_impl.designs.quorum.broker.quorum_description import describe_quorum
from fencepost.cluster_impl.designs.quorum.features import report
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from fencepost.cluster_impl.designs.quorum.metrics import broker_lag
from fencepost.cluster_impl.designs.quorum.raft.observer import MetadataObserver
from fencepost.cluster_impl.designs.shared.heartbeats import HeartbeatTiming
from fencepost.cluster_impl.designs.shared.strays import Strays
from fencepost.cluster_impl.failures import NodeFailure
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.metrics import replica_samples
from fencepost.cluster_impl.security.acl import Authorizer
from fencepost.cluster_impl.security.cluster_action import require_cluster_action
from fencepost.cluster_impl.security.configured import access_control_of, authorizer_of, login_of, users_of
from fencepost.cluster_impl.security.tls import server_tls
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Malformed
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import QUORUM_BROKER, QUORUM_CLIENTS
from fencepost.cluster_impl.wire.server import Server

log = logging.getLogger(__name__)


class BrokerNode:
    """Implements `fencepost.cluster_impl.node.Node`."""

    def __init__(self, config: QuorumBrokerNodeConfig) -> None:
        self._config = config
        quorum = config.quorum
        hosts = Hosts.load(config.hosts_file)
        self._log_dirs = LogDirs.open(config.log_dirs, quorum.cluster_id, config.broker_id)
        self._lifecycle = LeaseLifecycle()
        image = MetadataImage()
        finder = ControllerFinder(quorum.voters)
        client_id = f"broker-{config.broker_id}"
        login = login_of(config.security, config.data_plane.inter_broker_listener)
        controller_login = (
            login_of(config.security, quorum.controller_listeners[0]) if quorum.controller_listeners else None
        )
        heartbeat_link, metadata_link, isr_link, forward_link = self._links = tuple(
            ActiveControllerLink(finder, hosts, client_id, quorum.request_timeout, controller_login) for _ in range(4)
        )
        self._control = QuorumControlPlane(
            config.broker_id,
            quorum.cluster_id,
            self._lifecycle,
            image,
            isr_link,
            forward_link,
            finder,
            quorum.request_timeout,
        )
        self._replicas = ReplicaManager(self._control, config.data_plane, self._log_dirs, hosts, login)
        self._metadata = BrokerMetadata(
            config.broker_id,
            lambda: self._lifecycle.epoch,
            image,
            self._replicas,
            Strays(self._log_dirs, self._replicas).remove,
        )
        access = access_control_of(config.security, lambda: image.acls)
        authorizer: Authorizer = access or authorizer_of(config.security)
        largest = config.max_request_bytes
        self._apis = BrokerApis(
            self._control, self._replicas, config.data_plane, config.settings, keeps_acls=access is not None
        )
        for_clients = {**self._apis.handlers, m.DescribeQuorumRequest.API_KEY: describe_quorum(self._control)}
        clients = require_cluster_action(for_clients, authorizer)
        between = require_cluster_action({**for_clients, **MisdirectedHeartbeats(finder).handlers}, authorizer)
        if access is not None:
            clients = authorized(clients, access, self._replicas.topic_name)
            between = authorized(between, access, self._replicas.topic_name, MisdirectedHeartbeats(finder).handlers)
        sessions = FetchSessions(config.data_plane.fetch_session_slots)
        self._internal = Server(
            QUORUM_BROKER,
            sessions.among(between),
            max_frame_bytes=largest,
            features=lambda: report(image.features, image.offset),
        )
        self._clients = Server(
            QUORUM_CLIENTS,
            sessions.among(clients),
            max_frame_bytes=largest,
            features=lambda: report(image.features, image.offset),
        )
        self._observer = MetadataObserver(
            quorum, metadata_link, finder, self._on_records, self._on_snapshot, config.broker_id
        )
        self._heartbeats = LeaseHeartbeats(
            config.broker_id,
            reported(config),
            config.rack,
            self._lifecycle,
            heartbeat_link,
            finder,
            HeartbeatTiming(quorum.heartbeat_interval, min(quorum.lease_timeout / 2, quorum.request_timeout)),
            lambda: self._observer.offset,
            self._metadata.on_epoch,
        )
        self._beating: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the listeners, then follow the metadata and send heartbeats."""
        for listener in self._config.listeners:
            security = self._config.security
            users, tls = users_of(security, listener.name), server_tls(security, listener.name)
            is_internal = listener.name == self._config.data_plane.inter_broker_listener
            server = self._internal if is_internal else self._clients
            await server.listen(listener.host, listener.port, listener.name, users, tls)
        await self._replicas.start()
        await self._observer.start()
        self._beating = asyncio.create_task(self._heartbeats.run())

    def metrics(self) -> Iterable[Sample]:
        yield broker_lag(max(0, self._observer.last_stable_offset - self._observer.offset - 1))
        yield from replica_samples(list(self._replicas), serving=self._control.serving())

    def _on_records(self, records: Sequence[tuple[int, bytes]]) -> None:
        self._metadata.on_records(records)
        self._heartbeats.metadata_advanced()

    def _on_snapshot(self, values: Sequence[bytes], end_offset: int) -> None:
        self._metadata.on_snapshot(values, end_offset)
        self._heartbeats.metadata_advanced()

    async def failed(self) -> None:
        """Wait for ever, or raise the failure of a part: NodeFailure if the metadata is unreadable or gone."""
        assert self._beating is not None
        try:
            await asyncio.gather(self._observer.failed(), self._replicas.failed(), asyncio.shield(self._beating))
        except Malformed as error:
            raise NodeFailure(f"this software cannot read the metadata: {error}") from error

    async def stop(self) -> None:
        """Return the id (KIP-631, Controlled Shutdown), waiting at most one lease: after that the id is free anyway."""
        self._heartbeats.stop()
        if self._beating is not None:
            _, unfinished = await asyncio.wait({self._beating}, timeout=self._config.quorum.lease_timeout)
            if unfinished:
                log.warning("no controller granted the shutdown within a lease; this broker stops without it")
                self._beating.cancel()
                await asyncio.wait(unfinished)
        self._heartbeats.close()
        await self._internal.close()
        await self._clients.close()
        self._apis.close()
        await self._observer.close()
        await self._replicas.close()
        for link in self._links:
            link.close()
        self._log_dirs.close()
