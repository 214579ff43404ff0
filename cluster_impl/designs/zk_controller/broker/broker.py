"""The broker of a node: everything on its side of the controller, wired together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from cluster_impl.config import NodeConfig
from cluster_impl.config_zookeeper import ZooKeeperConfig
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from cluster_impl.designs.zk_controller.broker.control_plane import IsrChanges, ZkControlPlane
from cluster_impl.designs.zk_controller.broker.controlled_shutdown import ControlledShutdown, Patience
from cluster_impl.designs.zk_controller.broker.heartbeats import Heartbeats, Pace
from cluster_impl.designs.zk_controller.broker.isr_requests import IsrRequester
from cluster_impl.designs.zk_controller.broker.isr_writes import IsrWriter
from cluster_impl.designs.zk_controller.broker.lifecycle import Lifecycle
from cluster_impl.designs.zk_controller.broker.link import BrokerAddresses, ControllerLink
from cluster_impl.designs.zk_controller.broker.log_dir_failures import (
    EventSender,
    LogDirFailures,
    NotificationSender,
    Sender,
)
from cluster_impl.designs.zk_controller.broker.metadata import MetadataCache
from cluster_impl.designs.zk_controller.broker.orders import ControllerOrders
from cluster_impl.designs.zk_controller.broker.registration import Registration, broker_info
from cluster_impl.designs.zk_controller.broker.topic_configs import TopicConfigs
from cluster_impl.designs.zk_controller.controller.channels import Connect
from cluster_impl.replication.control_plane import NO_EPOCH, DataPlane
from cluster_impl.wire.server import Handler

log = logging.getLogger(__name__)

_REGISTRATION_GRACE = 1.0
"""Seconds beyond a session's time in which the znode of an earlier process must have gone."""


class Broker:
    """`control` is for the data plane, `handlers` for the INTERNAL listener.

    `known_controller` gives the id of the broker that holds /controller as far as this node knows, -1 if none does.
    """

    def __init__(
        self,
        config: NodeConfig,
        zookeeper: ZooKeeper,
        cluster_id: str,
        known_controller: Callable[[], int],
        connect: Connect,
    ) -> None:
        assert config.zookeeper is not None
        settings = config.zookeeper
        self._settings: ZooKeeperConfig = settings
        self._zookeeper = zookeeper
        broker_id = config.broker_id
        self._lifecycle = Lifecycle(settings.broker_heartbeat_timeout)
        self._cache = MetadataCache(cluster_id)
        self._registration = Registration(
            zookeeper,
            broker_id,
            lambda: broker_info(config.advertised(), config.security, settings.ibp),
            self._registered,
            self._lost,
        )
        addresses = BrokerAddresses(zookeeper, config.inter_broker_listener, lambda: self._cache.view)
        heartbeat_link, isr_link, request_link, last_link = (
            ControllerLink(known_controller, addresses, connect) for _ in range(4)
        )
        self._links = (heartbeat_link, isr_link, request_link, last_link)
        self._configs = TopicConfigs(zookeeper, self._cache.configured)
        self._orders = ControllerOrders(broker_id, self._registration, self._configs, self._cache)
        self._writer = IsrWriter(broker_id, zookeeper, self._orders.told)
        self._producer_ids = ProducerIds(zookeeper, broker_id)
        self._requester = IsrRequester(broker_id, self._epoch, isr_link)
        isr_changes: IsrChanges = self._requester if settings.ibp.has_heartbeats else self._writer
        sender: Sender = NotificationSender(broker_id, zookeeper)
        if settings.ibp.has_replica_events:
            sender = EventSender(broker_id, self._epoch, request_link, settings.request_timeout)
        self._failures = LogDirFailures(sender)
        self.control = ZkControlPlane(
            broker_id,
            self._lifecycle if settings.ibp.has_heartbeats else None,
            self._cache,
            self._epoch,
            lambda: self._orders.informed_at,
            isr_changes,
            self._producer_ids,
            request_link,
            self._failures,
            settings.request_timeout,
        )
        pace = Pace(
            settings.broker_heartbeat_interval, min(settings.controller_heartbeat_timeout / 2, settings.request_timeout)
        )
        self._heartbeats = Heartbeats(broker_id, self._lifecycle, heartbeat_link, pace)
        patience = Patience(
            settings.controlled_shutdown_retries, settings.controlled_shutdown_backoff, settings.request_timeout
        )
        self._shutdown = ControlledShutdown(broker_id, self._epoch, last_link, patience)
        self._tasks: list[asyncio.Task[None]] = []
        self.registrations: list[Callable[[], None]] = []
        """Called when the znode is this process's own, for the first time or again."""

    @property
    def is_registered(self) -> bool:
        """Whether the id is this process's own, as far as its session says."""
        return self._registration.epoch != NO_EPOCH

    @property
    def handlers(self) -> Mapping[int, Handler]:
        return self._orders.handlers

    def attach(self, data_plane: DataPlane) -> None:
        """Name whom to tell of leaderships; before `start`."""
        self._orders.attach(data_plane)

    async def start(self) -> None:
        """Register, and heartbeat where that is the level. Raises StartupError if the id is another's."""
        self._producer_ids.prepare()
        await self._registration.first(self._settings.session_timeout + _REGISTRATION_GRACE)
        # KIP-343's brokers are fenced until they have the id again; legacy ones would go on serving without it.
        waits = self._settings.ibp.has_heartbeats
        self._tasks.append(asyncio.create_task(self._registration.keep(waits=waits)))
        if self._settings.ibp.has_heartbeats:
            self._tasks.append(asyncio.create_task(self._heartbeats.run()))

    def controller_is(self, controller: int) -> None:
        """Another broker became controller, or none is one (-1)."""
        for link in self._links:
            link.controller_is(controller)
        self._heartbeats.beat_now()

    async def failed(self) -> None:
        """Returns never; raises what a part died of."""
        await asyncio.gather(*map(asyncio.shield, self._tasks))

    async def leave(self) -> None:
        """Hand leaderships over, within the bound that the configuration sets."""
        self._lifecycle.stop()
        self._heartbeats.beat_now()
        if self._settings.controlled_shutdown and self.is_registered:
            await self._shutdown.run()

    async def close(self) -> None:
        """Ask and tell nobody any more. The znode goes with the session."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._heartbeats.close()
        self._configs.close()
        self._writer.close()
        self._requester.close()
        self._producer_ids.close()
        self._failures.close()
        for link in self._links:
            link.close()

    def _epoch(self) -> int:
        return self._registration.epoch

    def _registered(self, epoch: int) -> None:
        self._lifecycle.registered(epoch)
        self._heartbeats.beat_now()
        for listener in self.registrations:
            listener()

    def _lost(self) -> None:
        self._lifecycle.unregistered()
        self._heartbeats.tell()
