"""A node of the leader-driven design: a broker on one ZooKeeper session, without any controller."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import AsyncExitStack

from fencepost.cluster_impl.api.apis import BrokerApis
from fencepost.cluster_impl.api.fetch_sessions import FetchSessions
from fencepost.cluster_impl.config.nodes import LeaderDrivenNodeConfig
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.administrator import Administrator
from fencepost.cluster_impl.designs.leader_driven.admin.requests import AdminRequests
from fencepost.cluster_impl.designs.leader_driven.admin.zookeeper_executor import ZooKeeperExecutor
from fencepost.cluster_impl.designs.leader_driven.broker.broker import LeaderDrivenBroker
from fencepost.cluster_impl.designs.leader_driven.broker.claim import IdClaim
from fencepost.cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.metrics import replica_samples
from fencepost.cluster_impl.replication.rules import REPLICATION_V2
from fencepost.cluster_impl.security.cluster_action import require_cluster_action
from fencepost.cluster_impl.security.configured import authorizer_of, login_of, users_of
from fencepost.cluster_impl.security.tls import server_tls
from fencepost.cluster_impl.storage.directory import Owner
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import LEADER_DRIVEN_BROKER
from fencepost.cluster_impl.wire.server import Server

log = logging.getLogger(__name__)


class LeaderDrivenNode:
    """Implements `fencepost.cluster_impl.node.Node`."""

    def __init__(self, config: LeaderDrivenNodeConfig) -> None:
        self._config = config
        self._hosts = Hosts.load(config.hosts_file)
        # Each broker tries the servers in another order, so that the sessions are spread over them.
        self._zookeeper = ZooKeeper(
            config.zookeeper.connect_string, config.zookeeper.session_timeout, self._hosts, first=config.broker_id
        )
        self._closing = AsyncExitStack()
        """The started parts, closed in reverse order."""
        self._broker: LeaderDrivenBroker | None = None

    async def start(self) -> None:
        """Claim the id before touching anything that belongs to it, then start the broker.

        The listeners open before the broker registers: followers fetch from a leader that is not registered yet.
        """
        await self._zookeeper.start(self._config.zookeeper.connection_timeout)
        self._closing.push_async_callback(self._zookeeper.close)
        claim = IdClaim(self._zookeeper, self._config.broker_id)
        await claim.first()
        cluster_id = await found_cluster(self._zookeeper, znodes.ROOTS)
        dirs = LogDirs.open(self._config.log_dirs, cluster_id, self._config.broker_id, Owner.BROKER_ID)
        self._closing.callback(dirs.close)

        login = login_of(self._config.security, self._config.data_plane.inter_broker_listener)

        def make_replicas(control: ControlPlane) -> ReplicaManager:
            return ReplicaManager(control, self._config.data_plane, dirs, self._hosts, login, rules=REPLICATION_V2)

        broker = LeaderDrivenBroker(self._config, self._zookeeper, claim, cluster_id, dirs, make_replicas)
        replicas = broker.replicas
        apis = BrokerApis(broker.control, replicas, self._config.data_plane, self._config.settings)
        administrator = Administrator(
            lambda: ZooKeeperExecutor(self._zookeeper),
            broker.monitor,
            self._config.data_plane.topics,
            self._config.leader_driven.queue_capacity,
        )
        broker.control.administer = AdminRequests(administrator, broker.settings.writer).forward
        self._broker = broker

        await replicas.start()
        self._closing.push_async_callback(replicas.close)
        self._closing.callback(apis.close)
        self._closing.callback(administrator.close)
        await self._listen(apis)
        self._closing.push_async_callback(broker.close)
        self._closing.push_async_callback(broker.leave)
        await broker.start()

    async def _listen(self, apis: BrokerApis) -> None:
        """Open the listeners. All answer the same requests, since no peer has requests of its own."""
        sessions = FetchSessions(self._config.data_plane.fetch_session_slots)
        server = Server(
            LEADER_DRIVEN_BROKER,
            sessions.among(require_cluster_action(apis.handlers, authorizer_of(self._config.security))),
            max_frame_bytes=self._config.max_request_bytes,
        )
        self._closing.push_async_callback(server.close)
        for at in self._config.listeners:
            security = self._config.security
            users, tls = users_of(security, at.name), server_tls(security, at.name)
            await server.listen(at.host, at.port, at.name, users, tls)

    def metrics(self) -> Iterable[Sample]:
        assert self._broker is not None
        return replica_samples(list(self._broker.replicas), serving=self._broker.control.serving())

    async def failed(self) -> None:
        """Wait for ever, or raise the failure of a part: NodeFailure if another process has the id."""
        assert self._broker is not None
        await asyncio.gather(self._broker.failed(), self._broker.replicas.failed())

    async def stop(self) -> None:
        """Give up the leaderships, stop serving, and close the session last."""
        await self._closing.aclose()
