"""A node of the `zk-controller` design: a broker that may be elected controller, on one ZooKeeper session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack

from fencepost.cluster_impl.api.apis import BrokerApis
from fencepost.cluster_impl.api.fetch_sessions import FetchSessions
from fencepost.cluster_impl.config.nodes import ZkControllerNodeConfig
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.broker import Broker
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.host import ControllerHost, controller_host
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.metrics import replica_samples
from fencepost.cluster_impl.security.cluster_action import require_cluster_action
from fencepost.cluster_impl.security.configured import authorizer_of, login_of, users_of
from fencepost.cluster_impl.security.tls import server_tls
from fencepost.cluster_impl.storage.directory import Owner
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import KAFKA, ZK_BROKER
from fencepost.cluster_impl.wire.server import Server

log = logging.getLogger(__name__)


class ZkNode:
    """Implements `fencepost.cluster_impl.node.Node`."""

    def __init__(self, config: ZkControllerNodeConfig) -> None:
        self._config = config
        self._hosts = Hosts.load(config.hosts_file)
        self._authorizer = authorizer_of(config.security)
        self._users = {at.name: users_of(config.security, at.name) for at in config.listeners}
        self._tls = {at.name: server_tls(config.security, at.name) for at in config.listeners}
        self._login = login_of(config.security, config.data_plane.inter_broker_listener)
        # Each broker tries the servers in another order, so that the sessions spread over them.
        self._zookeeper = ZooKeeper(
            config.zookeeper.connect_string, config.zookeeper.session_timeout, self._hosts, first=config.broker_id
        )
        self._closing = AsyncExitStack()
        """Closes what was started, in reverse order."""
        self._broker: Broker | None = None
        self._watched: list[Callable[[], Awaitable[None]]] = []
        """Awaited by `failed`."""

    async def start(self) -> None:
        """Start the node. It listens before it registers, as the controller connects as soon as it sees the znode."""
        await self._zookeeper.start(self._config.zookeeper.connection_timeout)
        self._closing.push_async_callback(self._zookeeper.close)
        cluster_id = await found_cluster(self._zookeeper, znodes.ROOTS)
        dirs = LogDirs.open(self._config.log_dirs, cluster_id, self._config.broker_id, Owner.BROKER_ID)
        self._closing.callback(dirs.close)

        host = controller_host(self._config, self._zookeeper, self._hosts, self._is_registered)

        def make_replicas(control: ControlPlane) -> ReplicaManager:
            return ReplicaManager(control, self._config.data_plane, dirs, self._hosts, self._login)

        broker = Broker(self._config, self._zookeeper, cluster_id, host.known_controller, self._connect, make_replicas)
        host.listeners.append(broker.controller_is)
        broker.registrations.append(host.reconsider)
        replicas = broker.replicas
        apis = BrokerApis(broker.control, replicas, self._config.data_plane, self._config.settings)
        self._broker, self._watched = broker, [broker.failed, host.failed, replicas.failed]

        await replicas.start()
        self._closing.push_async_callback(replicas.close)
        self._closing.callback(apis.close)
        await self._listen(apis, broker, host)
        self._closing.push_async_callback(broker.close)
        await broker.start()
        await host.start()
        self._closing.push_async_callback(host.stop)
        self._closing.push_async_callback(broker.leave)

    async def _listen(self, apis: BrokerApis, broker: Broker, host: ControllerHost) -> None:
        """Open the listeners. Only the one between brokers serves the requests of brokers and controllers.

        There CreateTopics and DeleteTopics go to the controller in this process; elsewhere the broker forwards them.
        """
        largest = self._config.max_request_bytes
        between = require_cluster_action({**apis.handlers, **broker.handlers, **host.handlers}, self._authorizer)
        of_clients = require_cluster_action(apis.handlers, self._authorizer)
        sessions = FetchSessions(self._config.data_plane.fetch_session_slots)
        internal = Server(ZK_BROKER, sessions.among(between), max_frame_bytes=largest)
        clients = Server(KAFKA, sessions.among(of_clients), max_frame_bytes=largest)
        for server in (internal, clients):
            self._closing.push_async_callback(server.close)
        for at in self._config.listeners:
            server = internal if at.name == self._config.data_plane.inter_broker_listener else clients
            await server.listen(at.host, at.port, at.name, self._users[at.name], self._tls[at.name])

    def _is_registered(self) -> bool:
        return self._broker is not None and self._broker.is_registered

    async def _connect(self, host: str, port: int, timeout: float) -> Connection:
        """Connect to the inter-broker listener of another node, or of this one."""
        return await Connection.open(
            host,
            port,
            ZK_BROKER,
            f"broker-{self._config.broker_id}",
            hosts=self._hosts,
            timeout=timeout,
            login=self._login,
        )

    def metrics(self) -> Iterable[Sample]:
        assert self._broker is not None
        return replica_samples(list(self._broker.replicas), serving=self._broker.control.serving())

    async def failed(self) -> None:
        await asyncio.gather(*(failed() for failed in self._watched))

    async def stop(self) -> None:
        """Hand over leaderships, resign as controller, stop serving, and close the session last."""
        await self._closing.aclose()
