"""The broker of a node: the parts that talk to the controller and to ZooKeeper, put together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from fencepost.cluster_impl.config.nodes import ZkControllerNodeConfig
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from fencepost.cluster_impl.designs.shared.heartbeats import HeartbeatTiming
from fencepost.cluster_impl.designs.shared.isr_proposals import IsrProposals
from fencepost.cluster_impl.designs.zk_controller.broker.broker_settings import BrokerSettings
from fencepost.cluster_impl.designs.zk_controller.broker.control_plane import IsrChanges, ZkControlPlane
from fencepost.cluster_impl.designs.zk_controller.broker.controlled_shutdown import ShutdownLimits, ShutdownRequester
from fencepost.cluster_impl.designs.zk_controller.broker.controller_requests import ControllerRequests
from fencepost.cluster_impl.designs.zk_controller.broker.heartbeats import MetadataHeartbeats
from fencepost.cluster_impl.designs.zk_controller.broker.isr_requests import IsrChangeRequests
from fencepost.cluster_impl.designs.zk_controller.broker.isr_writes import IsrWriter
from fencepost.cluster_impl.designs.zk_controller.broker.lifecycle import Lifecycle
from fencepost.cluster_impl.designs.zk_controller.broker.link import BrokerAddresses, ControllerLink
from fencepost.cluster_impl.designs.zk_controller.broker.log_dir_failures import (
    EventSender,
    FailureSender,
    LogDirFailures,
    NotificationSender,
)
from fencepost.cluster_impl.designs.zk_controller.broker.metadata import MetadataCache
from fencepost.cluster_impl.designs.zk_controller.broker.registration import ZnodeRegistration, broker_info
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.channels import Connect
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH, ControlPlane
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.wire.server import Handler

log = logging.getLogger(__name__)

_REGISTRATION_GRACE = 1.0
"""Seconds beyond the session timeout after which the znode of an earlier process must be gone."""


class Broker:
    """One broker. `control` serves the data plane `replicas`, `handlers` the INTERNAL listener.

    `known_controller` returns the id of the broker that holds /controller as far as this node knows, -1 if none does.
    `make_replicas` creates the data plane on top of the given control plane.
    """

    def __init__(
        self,
        config: ZkControllerNodeConfig,
        zookeeper: ZooKeeper,
        cluster_id: str,
        known_controller: Callable[[], int],
        connect: Connect,
        make_replicas: Callable[[ControlPlane], ReplicaManager],
    ) -> None:
        settings = self._settings = config.controller
        self._session_timeout = config.zookeeper.session_timeout
        self._zookeeper = zookeeper
        broker_id = config.broker_id
        self._lifecycle = Lifecycle(settings.broker_heartbeat_timeout)
        self._cache = MetadataCache(cluster_id)
        self._registration = ZnodeRegistration(
            zookeeper,
            broker_id,
            lambda: broker_info(config.advertised(), config.security, settings.ibp, config.rack),
            self._registered,
            self._lost,
        )
        addresses = BrokerAddresses(zookeeper, config.data_plane.inter_broker_listener, lambda: self._cache.view)
        heartbeat_link, isr_link, request_link, last_link = (
            ControllerLink(known_controller, addresses, connect) for _ in range(4)
        )
        self._links = (heartbeat_link, isr_link, request_link, last_link)
        self._broker_settings = BrokerSettings(
            zookeeper,
            broker_id,
            self._cache,
            lambda topic_id: self._requests.settings_changed(topic_id),
            settings.request_timeout,
        )
        self._writer = IsrWriter(broker_id, zookeeper, lambda partition: self._requests.assignment(partition))
        self._producer_ids = ProducerIds(zookeeper, broker_id)
        self._isr_proposals = IsrProposals(IsrChangeRequests(broker_id, self._epoch, isr_link).send)
        isr_changes: IsrChanges = self._isr_proposals if settings.ibp.has_heartbeats else self._writer
        sender: FailureSender = NotificationSender(broker_id, zookeeper)
        if settings.ibp.has_replica_events:
            sender = EventSender(broker_id, self._epoch, request_link, settings.request_timeout)
        self._failures = LogDirFailures(sender)
        self.control = ZkControlPlane(
            broker_id,
            self._lifecycle if settings.ibp.has_heartbeats else None,
            self._cache,
            self._broker_settings,
            self._epoch,
            lambda: self._requests.informed_at,
            isr_changes,
            self._producer_ids,
            request_link,
            self._failures,
            settings.request_timeout,
        )
        self.replicas = make_replicas(self.control)
        self._requests = ControllerRequests(
            broker_id,
            self._registration,
            self._broker_settings.topics,
            self._cache,
            self.replicas,
            self._broker_settings.brokers.below_topics,
        )
        timing = HeartbeatTiming(
            settings.broker_heartbeat_interval, min(settings.controller_heartbeat_timeout / 2, settings.request_timeout)
        )
        self._heartbeats = MetadataHeartbeats(broker_id, self._lifecycle, heartbeat_link, timing)
        limits = ShutdownLimits(
            settings.controlled_shutdown_retries, settings.controlled_shutdown_backoff, settings.request_timeout
        )
        self._shutdown = ShutdownRequester(broker_id, self._epoch, last_link, limits)
        self._tasks: list[asyncio.Task[None]] = []
        self.registrations: list[Callable[[], None]] = []
        """Called whenever this process has registered."""

    @property
    def is_registered(self) -> bool:
        """Return whether this process is registered under its id, as far as its session knows."""
        return self._registration.epoch != NO_EPOCH

    @property
    def handlers(self) -> Mapping[int, Handler]:
        return self._requests.handlers

    async def start(self) -> None:
        """Register, and start heartbeats if the level has them. Raises StartupError if another process has the id."""
        self._producer_ids.prepare()
        await self._broker_settings.notifications.start()
        self._tasks.append(asyncio.create_task(self._broker_settings.notifications.run()))
        await self._registration.first(self._session_timeout + _REGISTRATION_GRACE)
        # A broker with heartbeats is fenced until it has its id again; one without them would serve without its id.
        waits = self._settings.ibp.has_heartbeats
        self._tasks.append(asyncio.create_task(self._registration.keep(waits=waits)))
        if self._settings.ibp.has_heartbeats:
            self._tasks.append(asyncio.create_task(self._heartbeats.run()))

    def controller_is(self, controller: int) -> None:
        """Adapt to a new controller; -1 means that there is none."""
        for link in self._links:
            link.controller_is(controller)
        self._heartbeats.beat_now()

    async def failed(self) -> None:
        """Wait for ever; raise the error that ends one of the tasks."""
        await asyncio.gather(*map(asyncio.shield, self._tasks))

    async def leave(self) -> None:
        """Hand over leaderships, within the time that the configuration sets."""
        self._lifecycle.stop()
        self._heartbeats.beat_now()
        if self._settings.controlled_shutdown and self.is_registered:
            await self._shutdown.run()

    async def close(self) -> None:
        """Stop all tasks and close the links. The znode goes with the session."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._heartbeats.close()
        self._broker_settings.close()
        self._writer.close()
        self._isr_proposals.close()
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
        self._heartbeats.log_state()
