"""A broker node: the replicas and client APIs, driven by the metadata that it follows and the lease that it holds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence

from fencepost.cluster_impl.config.nodes import QuorumBrokerNodeConfig
from fencepost.cluster_impl.designs.quorum.broker.control_plane import QuorumControlPlane
from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.heartbeats import LeaseHeartbeats, reported
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
from fencepost.cluster_impl.designs.quorum.broker.metadata import BrokerMetadata
from fencepost.cluster_impl.designs.quorum.broker.requests import MisdirectedHeartbeats, describe_quorum
from fencepost.cluster_impl.designs.quorum.features import report
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from fencepost.cluster_impl.designs.quorum.metrics import broker_lag
from fencepost.cluster_impl.designs.quorum.raft.observer import MetadataObserver
from fencepost.cluster_impl.designs.shared.broker_shell import BrokerShell, DesignApis
from fencepost.cluster_impl.designs.shared.heartbeats import HeartbeatTiming
from fencepost.cluster_impl.designs.shared.strays import Strays
from fencepost.cluster_impl.failures import NodeFailure
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.storage.directory import Owner
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Malformed
from fencepost.cluster_impl.wire.registry import QUORUM_BROKER, QUORUM_CLIENTS, QUORUM_CONTROLLER

log = logging.getLogger(__name__)


class BrokerNode:
    """Implements `fencepost.cluster_impl.node.Node`."""

    def __init__(self, config: QuorumBrokerNodeConfig) -> None:
        self._config = config
        quorum = config.quorum
        self._image = image = MetadataImage()
        self._lifecycle = lifecycle = LeaseLifecycle()
        self._finder = finder = ControllerFinder(quorum.voters)
        self._shell = shell = BrokerShell(config, lambda: image.acls)
        dirs = shell.open_log_dirs(quorum.cluster_id, Owner.NODE_ID)
        connect = shell.connector(
            quorum.controller_listener, QUORUM_CONTROLLER, f"broker-{config.broker_id}", of_controllers=True
        )
        heartbeat_link, metadata_link, isr_link, forward_link = links = [
            ActiveControllerLink(finder, connect, quorum.request_timeout) for _ in range(4)
        ]
        self._control = QuorumControlPlane(
            config.broker_id,
            quorum.cluster_id,
            lifecycle,
            image,
            isr_link,
            forward_link,
            finder,
            quorum.request_timeout,
        )
        replicas = shell.make_replicas(self._control)
        for link in links:
            shell.closing.callback(link.close)
        self._metadata = BrokerMetadata(
            config.broker_id, lambda: lifecycle.epoch, image, replicas, Strays(dirs, replicas).remove
        )
        self._observer = MetadataObserver(
            quorum, metadata_link, finder, self._on_records, self._on_snapshot, config.broker_id
        )
        self._heartbeats = LeaseHeartbeats(
            config.broker_id,
            reported(config),
            config.rack,
            lifecycle,
            heartbeat_link,
            finder,
            HeartbeatTiming(quorum.heartbeat_interval, min(quorum.lease_timeout / 2, quorum.request_timeout)),
            lambda: self._observer.offset,
            self._metadata.on_epoch,
        )
        self._beating: asyncio.Task[None] | None = None
        self._settings: Mapping[str, str] = {}

    async def start(self) -> None:
        """Open the listeners, then follow the metadata and send heartbeats."""
        image, closing = self._image, self._shell.closing
        await self._shell.start(
            DesignApis(
                client_registry=QUORUM_CLIENTS,
                broker_registry=QUORUM_BROKER,
                clients={m.DescribeQuorumRequest.API_KEY: describe_quorum(self._control)},
                brokers=MisdirectedHeartbeats(self._finder).handlers,
                features=lambda: report(image.features, image.offset),
            )
        )
        closing.push_async_callback(self._observer.close)
        await self._observer.start()
        self._beating = asyncio.create_task(self._heartbeats.run())
        closing.push_async_callback(self._leave, self._beating)

    def metrics(self) -> Iterable[Sample]:
        yield broker_lag(max(0, self._observer.last_stable_offset - self._observer.offset - 1))
        yield from self._shell.metrics()

    def _on_records(self, records: Sequence[tuple[int, bytes]]) -> None:
        self._metadata.on_records(records)
        self._metadata_advanced()

    def _on_snapshot(self, values: Sequence[bytes], end_offset: int) -> None:
        self._metadata.on_snapshot(values, end_offset)
        self._metadata_advanced()

    def _metadata_advanced(self) -> None:
        self._heartbeats.metadata_advanced()
        if (settings := self._image.broker_config_of(self._config.broker_id)) != self._settings:
            self._settings = settings
            self._shell.secure(settings)

    async def failed(self) -> None:
        """Wait for ever, or raise the failure of a part: NodeFailure if the metadata is unreadable or gone."""
        assert self._beating is not None
        try:
            await asyncio.gather(self._observer.failed(), self._shell.replicas.failed(), asyncio.shield(self._beating))
        except Malformed as error:
            raise NodeFailure(f"this software cannot read the metadata: {error}") from error

    async def _leave(self, beating: asyncio.Task[None]) -> None:
        """Return the id (KIP-631, Controlled Shutdown), waiting at most one lease: after that the id is free anyway."""
        self._heartbeats.stop()
        _, unfinished = await asyncio.wait({beating}, timeout=self._config.quorum.lease_timeout)
        if unfinished:
            log.warning("no controller granted the shutdown within a lease; this broker stops without it")
            beating.cancel()
            await asyncio.wait(unfinished)
        self._heartbeats.close()

    async def stop(self) -> None:
        """Return the id, stop serving, and leave the logs last."""
        await self._shell.closing.aclose()
