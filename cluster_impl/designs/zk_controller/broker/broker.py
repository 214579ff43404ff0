"""The broker of a node: the parts that talk to the controller and to ZooKeeper, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from uuid import UUID

from fencepost.cluster_impl.config.nodes import ZkControllerNodeConfig
from fencepost.cluster_impl.config.zk_controller import ZkControllerConfig
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from fencepost.cluster_impl.designs.shared.background_tasks import BackgroundTasks
from fencepost.cluster_impl.designs.shared.heartbeats import HeartbeatTiming
from fencepost.cluster_impl.designs.shared.isr_proposals import IsrProposals
from fencepost.cluster_impl.designs.shared.strays import Strays
from fencepost.cluster_impl.designs.zk_controller.broker.broker_settings import BrokerSettings
from fencepost.cluster_impl.designs.zk_controller.broker.control_plane import ZkControlPlane
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
from fencepost.cluster_impl.designs.zk_controller.broker.request_guards import KnownAssignment
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH, ControlPlane, TopicPartition
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire.client import Connect
from fencepost.cluster_impl.wire.server import Handler

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
        dirs: LogDirs,
        known_controller: Callable[[], int],
        connect: Connect,
        make_replicas: Callable[[ControlPlane], ReplicaManager],
    ) -> None:
        self._settings = settings = config.controller
        self._session_timeout = config.zookeeper.session_timeout
        self._closing = AsyncExitStack()
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
        heartbeat_link, isr_link, request_link, last_link = self._links = [
            ControllerLink(known_controller, addresses, connect) for _ in range(4)
        ]
        self._broker_settings = BrokerSettings(
            zookeeper, broker_id, self._cache, self._settings_changed, settings.request_timeout
        )
        self._producer_ids = ProducerIds(zookeeper, broker_id)
        assignments: dict[TopicPartition, KnownAssignment] = {}
        self._writer = IsrWriter(broker_id, zookeeper, assignments)
        self._isr_proposals = IsrProposals(IsrChangeRequests(broker_id, self._epoch, isr_link).send)
        self._failures = LogDirFailures(self._failure_sender(broker_id, zookeeper, request_link))
        self.control = ZkControlPlane(
            broker_id,
            self._lifecycle if settings.ibp.has_heartbeats else None,
            self._cache,
            self._broker_settings,
            self._epoch,
            self._isr_proposals if settings.ibp.has_heartbeats else self._writer,
            self._producer_ids,
            request_link,
            self._failures,
            settings.request_timeout,
        )
        self.replicas = make_replicas(self.control)
        topics, below_topics = self._broker_settings.topics, self._broker_settings.brokers.below_topics
        self._requests = ControllerRequests(
            broker_id,
            self._registration,
            topics,
            self._cache,
            self.replicas,
            assignments,
            Strays(dirs, self.replicas).remove,
            below_topics,
        )
        self._heartbeats = MetadataHeartbeats(broker_id, self._lifecycle, heartbeat_link, _timing(settings))
        self._shutdown = ShutdownRequester(broker_id, self._epoch, last_link, _limits(settings))
        self._tasks = BackgroundTasks()
        self.registrations: list[Callable[[], None]] = []
        """Called whenever this process has registered."""

    def _failure_sender(self, broker_id: int, zookeeper: ZooKeeper, link: ControllerLink) -> FailureSender:
        if self._settings.ibp.has_replica_events:
            return EventSender(broker_id, self._epoch, link, self._settings.request_timeout)
        return NotificationSender(broker_id, zookeeper)

    @property
    def is_registered(self) -> bool:
        """Return whether this process is registered under its id, as far as its session knows."""
        return self._registration.epoch != NO_EPOCH

    @property
    def handlers(self) -> Mapping[int, Handler]:
        return self._requests.handlers

    async def start(self) -> None:
        """Register, and start heartbeats if the level has them. Raises StartupError if another process has the id."""
        for link in self._links:
            self._closing.callback(link.close)
        self._closing.callback(self._failures.close)
        self._closing.callback(self._producer_ids.close)
        self._closing.callback(self._isr_proposals.close)
        self._closing.callback(self._writer.close)
        self._closing.callback(self._broker_settings.close)
        self._closing.callback(self._heartbeats.close)
        self._closing.push_async_callback(self._tasks.close)
        self._producer_ids.prepare()
        await self._broker_settings.notifications.start()
        self._tasks.start(self._broker_settings.notifications.run())
        await self._registration.first(self._session_timeout + _REGISTRATION_GRACE)
        # A broker with heartbeats is fenced until it has its id again; one without them would serve without its id.
        waits = self._settings.ibp.has_heartbeats
        self._tasks.start(self._registration.keep(waits=waits))
        if self._settings.ibp.has_heartbeats:
            self._tasks.start(self._heartbeats.run())

    def controller_is(self, controller: int) -> None:
        """Adapt to a new controller; -1 means that there is none."""
        for link in self._links:
            link.controller_is(controller)
        self._heartbeats.beat_now()

    async def failed(self) -> None:
        """Wait for ever; raise the error that ends one of the tasks."""
        await self._tasks.failed()

    async def leave(self) -> None:
        """Hand over leaderships, within the time that the configuration sets."""
        self._lifecycle.stop()
        self._heartbeats.beat_now()
        if self._settings.controlled_shutdown and self.is_registered:
            await self._shutdown.run()

    async def close(self) -> None:
        """Stop all tasks and close the links. The znode goes with the session."""
        await self._closing.aclose()

    def _epoch(self) -> int:
        return self._registration.epoch

    def _settings_changed(self, topic_id: UUID | None) -> None:
        self._requests.settings_changed(topic_id)

    def _registered(self, epoch: int) -> None:
        self._lifecycle.registered(epoch)
        self._heartbeats.beat_now()
        for listener in self.registrations:
            listener()

    def _lost(self) -> None:
        self._lifecycle.unregistered()
        self._heartbeats.log_state()


def _timing(settings: ZkControllerConfig) -> HeartbeatTiming:
    timeout = min(settings.controller_heartbeat_timeout / 2, settings.request_timeout)
    return HeartbeatTiming(settings.broker_heartbeat_interval, timeout)


def _limits(settings: ZkControllerConfig) -> ShutdownLimits:
    return ShutdownLimits(
        settings.controlled_shutdown_retries, settings.controlled_shutdown_backoff, settings.request_timeout
    )
