"""A node of the `leader-driven` design: a broker on one ZooKeeper session, and no controller anywhere."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from contextlib import AsyncExitStack

from cluster_impl.api.apis import BrokerApis
from cluster_impl.config import NodeConfig
from cluster_impl.config_data_plane import api_config, replication_config
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.administrator import AdminConfig, Administrator
from cluster_impl.designs.leader_driven.admin.apis import admin_handlers
from cluster_impl.designs.leader_driven.admin.topic_requests import TopicRequests
from cluster_impl.designs.leader_driven.admin.waiting import ZooKeeperSeam
from cluster_impl.designs.leader_driven.broker.broker import Broker
from cluster_impl.designs.leader_driven.broker.claim import IdClaim
from cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from cluster_impl.replication.config import ReplicationConfig
from cluster_impl.replication.manager import ReplicaManager
from cluster_impl.replication.rules import REPLICATION_V2
from cluster_impl.security.cluster_action import guarded
from cluster_impl.security.configured import authorizer_of, users_of
from cluster_impl.storage.directory import Owner
from cluster_impl.storage.log_dirs import LogDirs
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.registry import LEADER_DRIVEN_BROKER
from cluster_impl.wire.server import Server

log = logging.getLogger(__name__)


class LeaderDrivenNode:
    """Implements `cluster_impl.node.Node`."""

    def __init__(self, config: NodeConfig) -> None:
        assert config.zookeeper is not None and config.leader_driven is not None
        self._config = config
        self._settings = config.zookeeper
        self._leader_driven = config.leader_driven
        self._hosts = Hosts.load(config.hosts_file)
        # The servers are tried in another order by each broker, so that one of them does not have all sessions.
        connect = ",".join(f"{at.host}:{at.port}" for at in self._settings.connect)
        self._zookeeper = ZooKeeper(connect, self._settings.session_timeout, self._hosts, first=config.broker_id)
        self._closing = AsyncExitStack()
        """What was started, to be ended in reverse order."""
        self._broker: Broker | None = None
        self._replicas: ReplicaManager | None = None

    async def start(self) -> None:
        """The id is claimed before anything is touched that belongs to it. The broker registers last, and listens
        before: followers fetch from a leader that is not registered yet."""
        await self._zookeeper.start(self._settings.connection_timeout)
        self._closing.push_async_callback(self._zookeeper.close)
        claim = IdClaim(self._zookeeper, self._config.broker_id)
        await claim.first()
        cluster_id = await found_cluster(self._zookeeper, znodes.ROOTS)
        dirs = LogDirs.open(self._config.log_dirs, cluster_id, self._config.broker_id, Owner.BROKER_ID)
        self._closing.callback(dirs.close)

        broker = Broker(self._config, self._zookeeper, claim, cluster_id)
        replicas = ReplicaManager(broker.control, self._replication(), dirs, self._hosts)
        broker.attach(replicas, dirs)
        apis = BrokerApis(broker.control, replicas, api_config(self._config))
        administrator = Administrator(
            lambda: ZooKeeperSeam(self._zookeeper),
            broker.monitor,
            AdminConfig(
                self._config.num_partitions,
                self._config.default_replication_factor,
                self._leader_driven.queue_capacity,
            ),
        )
        broker.control.administer = TopicRequests(administrator).forward
        self._broker, self._replicas = broker, replicas

        await replicas.start()
        self._closing.push_async_callback(replicas.close)
        self._closing.callback(apis.close)
        self._closing.callback(administrator.close)
        await self._listen(apis, broker, administrator)
        self._closing.push_async_callback(broker.close)
        self._closing.push_async_callback(broker.leave)
        await broker.start()

    def _replication(self) -> ReplicationConfig:
        """KeepInSyncTime is this design's word for how long a follower may lag."""
        return dataclasses.replace(
            replication_config(self._config), rules=REPLICATION_V2, lag_limit=self._leader_driven.keep_in_sync
        )

    async def _listen(self, apis: BrokerApis, broker: Broker, administrator: Administrator) -> None:
        """All listeners answer the same requests: there is nobody who may ask for more than others."""
        handlers = {**apis.handlers, **admin_handlers(broker.control, administrator)}
        server = Server(
            LEADER_DRIVEN_BROKER,
            guarded(handlers, authorizer_of(self._config.security)),
            max_frame_bytes=self._config.socket_request_max_bytes,
        )
        self._closing.push_async_callback(server.close)
        for at in self._config.listeners:
            await server.listen(at.host, at.port, at.name, users_of(self._config.security, at.name))

    async def failed(self) -> None:
        assert self._broker is not None and self._replicas is not None
        await asyncio.gather(self._broker.failed(), self._replicas.failed())

    async def stop(self) -> None:
        """Give leaderships up, stop serving, and end the session last."""
        await self._closing.aclose()
