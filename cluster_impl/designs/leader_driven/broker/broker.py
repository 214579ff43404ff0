"""The broker of a node: its claim, its sessions one after the other, and the state that outlives a session."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from fencepost.cluster_impl.config.nodes import LeaderDrivenNodeConfig
from fencepost.cluster_impl.coordination.errors import ConnectionLost, CoordinationError, SessionExpired
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven.broker.broker_session import BrokerSession
from fencepost.cluster_impl.designs.leader_driven.broker.broker_settings import BrokerSettings
from fencepost.cluster_impl.designs.leader_driven.broker.claim import IdClaim
from fencepost.cluster_impl.designs.leader_driven.broker.cluster_view import ClusterViews
from fencepost.cluster_impl.designs.leader_driven.broker.control_plane import LeaderDrivenControlPlane
from fencepost.cluster_impl.designs.leader_driven.broker.live_brokers import LiveBrokers
from fencepost.cluster_impl.designs.leader_driven.broker.registration import BrokerIdRegistration
from fencepost.cluster_impl.designs.leader_driven.partition.replica_context import ReplicaContext
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import MetricsFile, StateChangeMonitor
from fencepost.cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from fencepost.cluster_impl.designs.shared.background_tasks import BackgroundTasks
from fencepost.cluster_impl.designs.shared.strays import Strays
from fencepost.cluster_impl.replication.control_plane import (
    NO_EPOCH,
    ControlPlane,
    IsrOutcome,
    IsrProposal,
    IsrUnknown,
    TopicPartition,
)
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.rules import REPLICATION_V2, Rules
from fencepost.cluster_impl.storage.log_dirs import LogDirs

log = logging.getLogger(__name__)


ATTEMPTS = 6
"""Confirmations per session timeout."""

_PAUSE = 0.02
"""Seconds to wait after a failed confirmation."""


class SessionConfirmation:
    """Confirms by regular requests that the ZooKeeper servers still keep the session (decision DLD-15).

    When a session ends, ZooKeeper lets other brokers take its leaderships, but a client that is cut off learns of that
    later. So a broker that has had no response for a session timeout, counted from when the answered request was
    *sent*, must assume that its leaderships are lost.
    """

    def __init__(self, zookeeper: ZooKeeper) -> None:
        self._zookeeper = zookeeper

    def holds(self) -> bool:
        """Return True if the session was confirmed within the session timeout.

        Compares with the clock at each call, so a process that slept through the session knows it as soon as it wakes.
        """
        return time.monotonic() - self._zookeeper.synced_at < self._zookeeper.session_timeout

    async def run(self) -> None:
        """Confirm the session again and again; never returns."""
        while True:
            await self._zookeeper.until_connected()
            pause = self._zookeeper.session_timeout / ATTEMPTS
            try:
                await self._zookeeper.confirm()
            except CoordinationError:
                pause = _PAUSE
            await asyncio.sleep(pause)


class LeaderDrivenBroker:
    """One broker. `control` serves the data plane, `monitor` counts state changes, `replicas` is the data plane.

    `make_replicas` creates the data plane on top of the given control plane.
    """

    def __init__(
        self,
        config: LeaderDrivenNodeConfig,
        zookeeper: ZooKeeper,
        claim: IdClaim,
        cluster_id: str,
        dirs: LogDirs,
        make_replicas: Callable[[ControlPlane, Rules], ReplicaManager],
    ) -> None:
        self._settings = config.leader_driven
        self._zookeeper = zookeeper
        self._claim = claim
        broker_id = config.broker_id
        self.monitor = StateChangeMonitor(broker_id)
        self._registration = BrokerIdRegistration(zookeeper, broker_id, config.advertised(), config.rack)
        self._confirmation = SessionConfirmation(zookeeper)
        self._live = LiveBrokers(zookeeper)
        self._views = ClusterViews(zookeeper, cluster_id, broker_id, self._live)
        self._producer_ids = ProducerIds(zookeeper, broker_id)
        self.settings = BrokerSettings(zookeeper, broker_id, self._topic_changed, self._brokers_changed)
        self.control = LeaderDrivenControlPlane(
            broker_id,
            lambda: self._registration.epoch,
            self._serves,
            self._live,
            self._views,
            self._alter_isr,
            self._producer_ids,
            self._log_dir_failed,
            self.settings.refresh,
        )
        self._session: BrokerSession | None = None
        self._expired = asyncio.Event()
        self._is_leaving = False
        self._tasks = BackgroundTasks()
        self._closing = AsyncExitStack()
        for part in (self._producer_ids, self._views, self._live):
            self._closing.callback(part.close)
        self._closing.push_async_callback(self._tasks.close)
        zookeeper.listeners.append(self._session_is)
        self.replicas = make_replicas(self.control, REPLICATION_V2)
        self._strays = Strays(dirs, self.replicas)
        self._context = ReplicaContext(
            broker_id,
            self._settings,
            self.replicas,
            self._live_ids,
            self.monitor,
            self.settings.brokers.below_topics,
        )

    async def start(self) -> None:
        """Start the broker; return once it is registered, however many sessions that takes."""
        self._producer_ids.prepare()
        self._tasks.start(self._confirmation.run())
        self._tasks.start(self._live.run())
        await self._live.known.wait()
        await self.settings.notifications.start()
        self._tasks.start(self.settings.notifications.run())
        session = await self._joined()
        self._tasks.start(self._stay(session))
        if self._settings.metrics_file is not None:
            self._tasks.start(MetricsFile(self._settings.metrics_file, self.metrics).run())

    async def failed(self) -> None:
        """Wait for ever, or raise the failure of a part: NodeFailure if another process has the id."""
        await self._tasks.failed()

    async def leave(self) -> None:
        """Stop serving and give up the leaderships, so that other brokers can lead."""
        self._is_leaving = True
        if self._session is not None and self._confirmation.holds():
            try:
                async with asyncio.timeout(self._zookeeper.session_timeout):
                    await self._session.give_up_leaderships()
            except (SessionExpired, TimeoutError) as error:
                log.warning("the leaderships were not given up and end with the session: %s", error)

    async def close(self) -> None:
        """Stop all tasks. Ephemeral znodes go with the session."""
        if self._session is not None:
            self._session.end()
        await self._closing.aclose()

    # One session after the other

    async def _stay(self, session: BrokerSession) -> None:
        """Work in the session, and join again in the next one when it is over; for ever."""
        while True:
            try:
                await session.run()
            except SessionExpired:
                await self._expired.wait()
            session = await self._joined()

    async def _joined(self) -> BrokerSession:
        """Return a session in which the id is claimed and the broker registered.

        The id is claimed before every attempt: the session of an earlier claim may be over by now. Raises NodeFailure
        if another process has the id.
        """
        while True:
            await self._zookeeper.until_connected()
            try:
                if not self._claim.is_held:
                    await self._claim.again()
                await self._live.read()
                if not self._claim.is_held:
                    continue
                self._expired.clear()
                self._session = session = BrokerSession(self._zookeeper, self._context, self._strays)
                await session.begin()
                await self._registration.register()
                return session
            except ConnectionLost:
                continue
            except SessionExpired:
                log.warning("the ZooKeeper session expired before the broker was registered")

    def _session_is(self, state: SessionState) -> None:
        if state is SessionState.EXPIRED:
            if self._registration.epoch != NO_EPOCH:
                log.warning("the ZooKeeper session has expired: broker epoch %d is over", self._registration.epoch)
            self._registration.lost()
            if self._session is not None:
                self._session.end()
            self._expired.set()

    # Callbacks of the data plane

    def _serves(self) -> bool:
        return self._registration.epoch != NO_EPOCH and not self._is_leaving and self._confirmation.holds()

    def _live_ids(self) -> Collection[int]:
        return self._live.epochs

    async def _alter_isr(self, proposal: IsrProposal) -> IsrOutcome:
        """Change the ISR in the present session. The outcome is unknown without a session; the leadership ends then
        anyway."""
        if self._session is None:
            return IsrUnknown("this broker has no session yet")
        try:
            async with asyncio.timeout(self._zookeeper.session_timeout):
                return await self._session.replicas.alter_isr(proposal)
        except (SessionExpired, TimeoutError) as error:
            return IsrUnknown(str(error) or "ZooKeeper did not answer for a session's time")

    def _log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        log.error("the log dir %s has failed: %d replicas no longer lead or follow", path, len(lost))
        if self._session is not None:
            self._session.log_dir_failed(lost)

    # Settings

    def _topic_changed(self, topic: str | None) -> None:
        if self._session is not None:
            self._session.topic_changed(topic)

    def _brokers_changed(self, configs: Mapping[str, Mapping[str, str]]) -> None:
        self._views.broker_configs = configs
        if self._session is not None:
            self._session.brokers_changed()

    # Metrics

    def metrics(self) -> Mapping[str, Any]:
        roles = [replica.core.role for replica in self.replicas]
        return {
            **self.monitor.figures(),
            "own_queue": self._session.queue.length if self._session is not None else 0,
            "leading": sum(role is ReplicaRole.LEADER for role in roles),
            "following": sum(role is ReplicaRole.FOLLOWER for role in roles),
            "zookeeper_operations": self._zookeeper.operations,
        }
