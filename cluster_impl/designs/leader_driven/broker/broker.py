"""The broker of a node: its claim, its sessions one after the other, and what is kept across them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster_impl.config import NodeConfig
from cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from cluster_impl.coordination.session_state import SessionState
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.leader_driven.broker.claim import IdClaim
from cluster_impl.designs.leader_driven.broker.cluster_view import ClusterViews
from cluster_impl.designs.leader_driven.broker.confirmation import Confirmation
from cluster_impl.designs.leader_driven.broker.control_plane import LeaderDrivenControlPlane
from cluster_impl.designs.leader_driven.broker.live_brokers import LiveBrokers
from cluster_impl.designs.leader_driven.broker.membership import Membership
from cluster_impl.designs.leader_driven.broker.metrics import MetricsFile
from cluster_impl.designs.leader_driven.broker.registration import Registration
from cluster_impl.designs.leader_driven.broker.strays import Strays
from cluster_impl.designs.leader_driven.partition.surroundings import AgentConfig, Surroundings
from cluster_impl.designs.leader_driven.state_changes.monitor import Monitor
from cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from cluster_impl.replication.control_plane import NO_EPOCH, IsrOutcome, IsrProposal, IsrUnknown, TopicPartition
from cluster_impl.replication.manager import ReplicaManager
from cluster_impl.replication.progress import Role
from cluster_impl.storage.log_dirs import LogDirs

log = logging.getLogger(__name__)


class Broker:
    """`control` is for the data plane, `monitor` for whoever asks for state changes."""

    def __init__(self, config: NodeConfig, zookeeper: ZooKeeper, claim: IdClaim, cluster_id: str) -> None:
        assert config.zookeeper is not None and config.leader_driven is not None
        self._config = config
        self._settings = config.leader_driven
        self._zookeeper = zookeeper
        self._claim = claim
        broker_id = config.broker_id
        self.monitor = Monitor(broker_id)
        self._registration = Registration(zookeeper, broker_id, config.advertised())
        self._confirmation = Confirmation(zookeeper)
        self._live = LiveBrokers(zookeeper)
        self._views = ClusterViews(zookeeper, cluster_id, broker_id, self._live)
        self._producer_ids = ProducerIds(zookeeper, broker_id)
        self.control = LeaderDrivenControlPlane(
            broker_id,
            lambda: self._registration.epoch,
            self._serves,
            self._live,
            self._views,
            self._alter_isr,
            self._producer_ids,
            self._log_dir_failed,
        )
        self._membership: Membership | None = None
        self._replicas: ReplicaManager | None = None
        self._around: Surroundings | None = None
        self._strays: Strays | None = None
        self._expired = asyncio.Event()
        self._is_leaving = False
        self._tasks: list[asyncio.Task[None]] = []
        zookeeper.listeners.append(self._session_is)

    def attach(self, replicas: ReplicaManager, dirs: LogDirs) -> None:
        """Name the data plane; before `start`."""
        assert self._config.zookeeper is not None
        config = AgentConfig(
            preferred_wait=self._settings.preferred_wait,
            election_wait=self._settings.election_wait,
            keep_in_sync=self._settings.keep_in_sync,
            tick=self._settings.tick,
            queue_capacity=self._settings.queue_capacity,
            balances_leaders=self._config.zookeeper.auto_leader_rebalance,
        )
        self._replicas = replicas
        self._strays = Strays(dirs, replicas)
        self._around = Surroundings(self.control.broker_id, config, replicas, self._live_ids, self.monitor)

    async def start(self) -> None:
        """Returns once the broker is registered, however many sessions that takes."""
        self._producer_ids.prepare()
        self._tasks.append(asyncio.create_task(self._confirmation.run()))
        self._tasks.append(asyncio.create_task(self._live.run()))
        await self._live.known.wait()
        membership = await self._joined()
        self._tasks.append(asyncio.create_task(self._stay(membership)))
        if self._settings.metrics_file is not None:
            metrics = MetricsFile(self._settings.metrics_file, self.metrics)
            self._tasks.append(asyncio.create_task(metrics.run()))

    async def failed(self) -> None:
        """Returns never; raises what a part died of: NodeFailure if the id is another process's by now."""
        await asyncio.gather(*map(asyncio.shield, self._tasks))

    async def leave(self) -> None:
        """Stop serving, and let others lead what this broker led."""
        self._is_leaving = True
        if self._membership is not None and self._confirmation.holds():
            try:
                async with asyncio.timeout(self._zookeeper.session_timeout):
                    await self._membership.give_up_leaderships()
            except (SessionExpired, TimeoutError) as error:
                log.warning("the leaderships end with the session: %s", error)

    async def close(self) -> None:
        """Ask and tell nobody any more. What is ephemeral goes with the session."""
        if self._membership is not None:
            self._membership.end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._live.close()
        self._views.close()
        self._producer_ids.close()

    # Sessions

    async def _stay(self, membership: Membership) -> None:
        """For ever: when a session is over, begin anew in the next one."""
        while True:
            try:
                await membership.run()
            except SessionExpired:
                await self._expired.wait()
            membership = await self._joined()

    async def _joined(self) -> Membership:
        """Registered when this returns, in a session that has claimed the id: one that was claimed for may be over by
        now. Raises NodeFailure if the id is another process's."""
        while True:
            await self._zookeeper.until_connected()
            try:
                if not self._claim.is_held:
                    await self._claim.again()
                await self._live.read()
                if not self._claim.is_held:
                    continue
                self._expired.clear()
                assert self._around is not None and self._strays is not None
                self._membership = membership = Membership(self._zookeeper, self._around, self._strays)
                await membership.begin()
                await self._registration.register()
                return membership
            except ConnectionLost:
                continue
            except SessionExpired:
                log.warning("the ZooKeeper session expired before the broker was registered")

    def _session_is(self, state: SessionState) -> None:
        if state is SessionState.EXPIRED:
            if self._registration.epoch != NO_EPOCH:
                log.warning("the ZooKeeper session has expired: broker epoch %d is over", self._registration.epoch)
            self._registration.lost()
            if self._membership is not None:
                self._membership.end()
            self._expired.set()

    # What the data plane asks

    def _serves(self) -> bool:
        return self._registration.epoch != NO_EPOCH and not self._is_leaving and self._confirmation.holds()

    def _live_ids(self) -> Collection[int]:
        return self._live.epochs

    async def _alter_isr(self, proposal: IsrProposal) -> IsrOutcome:
        """Whoever has no session does not know what became of it; its leadership ends anyway."""
        if self._membership is None:
            return IsrUnknown("this broker has no session yet")
        try:
            async with asyncio.timeout(self._zookeeper.session_timeout):
                return await self._membership.replicas.alter_isr(proposal)
        except (SessionExpired, TimeoutError) as error:
            return IsrUnknown(str(error) or "ZooKeeper did not answer for a session's time")

    def _log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        log.error("the log dir %s has failed: %d replicas lead and follow nothing any more", path, len(lost))
        if self._membership is not None:
            self._membership.log_dir_failed(lost)

    # What others look at

    def metrics(self) -> Mapping[str, Any]:
        assert self._replicas is not None
        roles = [replica.core.role for replica in self._replicas]
        return {
            **self.monitor.figures(),
            "own_queue": self._membership.queue.length if self._membership is not None else 0,
            "leading": sum(role is Role.LEADER for role in roles),
            "following": sum(role is Role.FOLLOWER for role in roles),
            "zookeeper_operations": self._zookeeper.operations,
        }
