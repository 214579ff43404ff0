"""A node of the `zk-controller` design: a broker that may be elected controller, on one ZooKeeper session."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack

from cluster_impl.api.apis import BrokerApis
from cluster_impl.config import NodeConfig
from cluster_impl.config_data_plane import api_config, replication_config
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.broker.broker import Broker
from cluster_impl.designs.zk_controller.controller.host import ControllerHost
from cluster_impl.designs.zk_controller.controller.host_assembly import controller_host
from cluster_impl.replication.manager import ReplicaManager
from cluster_impl.security.cluster_action import guarded
from cluster_impl.security.configured import authorizer_of, login_of, users_of
from cluster_impl.storage.directory import Owner
from cluster_impl.storage.log_dirs import LogDirs
from cluster_impl.wire.client import Connection
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.registry import KAFKA, ZK_BROKER
from cluster_impl.wire.server import Server

log = logging.getLogger(__name__)


class ZkNode:
    """Implements `cluster_impl.node.Node`."""

    def __init__(self, config: NodeConfig) -> None:
        assert config.zookeeper is not None
        self._config = config
        self._settings = config.zookeeper
        self._hosts = Hosts.load(config.hosts_file)
        self._authorizer = authorizer_of(config.security)
        self._users = {at.name: users_of(config.security, at.name) for at in config.listeners}
        self._login = login_of(config.security, config.inter_broker_listener)
        # The servers are tried in another order by each broker, so that one of them does not have all sessions.
        connect = ",".join(f"{at.host}:{at.port}" for at in self._settings.connect)
        self._zookeeper = ZooKeeper(connect, self._settings.session_timeout, self._hosts, first=config.broker_id)
        self._closing = AsyncExitStack()
        """What was started, to be ended in reverse order."""
        self._broker: Broker | None = None
        self._host: ControllerHost | None = None
        self._replicas: ReplicaManager | None = None

    async def start(self) -> None:
        """Listens before it registers: the controller calls as soon as it sees the znode."""
        await self._zookeeper.start(self._settings.connection_timeout)
        self._closing.push_async_callback(self._zookeeper.close)
        cluster_id = await found_cluster(self._zookeeper, znodes.ROOTS)
        dirs = LogDirs.open(self._config.log_dirs, cluster_id, self._config.broker_id, Owner.BROKER_ID)
        self._closing.callback(dirs.close)

        host = controller_host(self._config, self._zookeeper, self._hosts, self._is_registered)
        broker = Broker(self._config, self._zookeeper, cluster_id, host.known_controller, self._connect)
        host.listeners.append(broker.controller_is)
        broker.registrations.append(host.reconsider)
        replicas = ReplicaManager(broker.control, replication_config(self._config), dirs, self._hosts)
        broker.attach(replicas)
        apis = BrokerApis(broker.control, replicas, api_config(self._config))
        self._broker, self._host, self._replicas = broker, host, replicas

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
        """Brokers' and controllers' own requests on the listener between brokers only. There CreateTopics and
        DeleteTopics are the controller's; elsewhere a broker passes them on to it."""
        largest = self._config.socket_request_max_bytes
        between = guarded({**apis.handlers, **broker.handlers, **host.handlers}, self._authorizer)
        internal = Server(ZK_BROKER, between, max_frame_bytes=largest)
        clients = Server(KAFKA, guarded(apis.handlers, self._authorizer), max_frame_bytes=largest)
        for server in (internal, clients):
            self._closing.push_async_callback(server.close)
        for at in self._config.listeners:
            server = internal if at.name == self._config.inter_broker_listener else clients
            await server.listen(at.host, at.port, at.name, self._users[at.name])

    def _is_registered(self) -> bool:
        return self._broker is not None and self._broker.is_registered

    async def _connect(self, host: str, port: int, timeout: float) -> Connection:
        """To the listener between brokers of another node, or of this one."""
        return await Connection.open(
            host,
            port,
            ZK_BROKER,
            f"broker-{self._config.broker_id}",
            hosts=self._hosts,
            timeout=timeout,
            login=self._login,
        )

    async def failed(self) -> None:
        assert self._broker is not None and self._host is not None and self._replicas is not None
        await asyncio.gather(self._broker.failed(), self._host.failed(), self._replicas.failed())

    async def stop(self) -> None:
        """Hand leaderships over, then the controller's office; then stop serving, and end the session last."""
        await self._closing.aclose()
