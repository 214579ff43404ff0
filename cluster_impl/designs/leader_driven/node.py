"""A node of the leader-driven design: a broker on one ZooKeeper session, without any controller."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from fencepost.cluster_impl.config.nodes import LeaderDrivenNodeConfig
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.administrator import Administrator
from fencepost.cluster_impl.designs.leader_driven.admin.partition_requests import PartitionRequests
from fencepost.cluster_impl.designs.leader_driven.admin.topic_requests import TopicRequests
from fencepost.cluster_impl.designs.leader_driven.admin.zookeeper_executor import ZooKeeperExecutor
from fencepost.cluster_impl.designs.leader_driven.broker.broker import LeaderDrivenBroker
from fencepost.cluster_impl.designs.leader_driven.broker.claim import IdClaim
from fencepost.cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from fencepost.cluster_impl.designs.on_zookeeper.config_writes import ConfigWriter
from fencepost.cluster_impl.designs.on_zookeeper.node_session import open_session
from fencepost.cluster_impl.designs.shared.broker_shell import BrokerShell, DesignApis
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.storage.directory import Owner
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.registry import LEADER_DRIVEN_BROKER


class AdminRequests:
    """Answers the administrative requests of clients that `ControlPlane.forward` passes on."""

    def __init__(self, administrator: Administrator, settings: ConfigWriter) -> None:
        self._settings = settings
        self._topics = TopicRequests(administrator)
        self._partitions = PartitionRequests(administrator)

    async def forward(self, request: Message, version: int) -> Message:
        """Carry out a request. Does not raise for a request that some broker serves."""
        match request:
            case m.CreateTopicsRequest():
                return await self._topics.create(request)
            case m.DeleteTopicsRequest():
                return await self._topics.delete(request, version)
            case m.CreatePartitionsRequest():
                return await self._partitions.create(request)
            case m.ElectLeadersRequest():
                return await self._partitions.elect(request)
            case m.AlterPartitionReassignmentsRequest():
                return await self._partitions.reassign(request)
            case m.ListPartitionReassignmentsRequest():
                return await self._partitions.list_reassignments(request)
            case m.AlterConfigsRequest() | m.IncrementalAlterConfigsRequest():
                return await self._settings.alter(request)
        raise TypeError(f"{type(request).__name__} is not an administrative request.")


class LeaderDrivenNode:
    """Implements `fencepost.cluster_impl.node.Node`."""

    def __init__(self, config: LeaderDrivenNodeConfig) -> None:
        self._config = config
        self._shell = BrokerShell(config)
        self._broker: LeaderDrivenBroker | None = None

    async def start(self) -> None:
        """Claim the id before touching anything that belongs to it, then start the broker.

        The listeners open before the broker registers: followers fetch from a leader that is not registered yet.
        """
        config, shell = self._config, self._shell
        zookeeper = await open_session(shell, config.zookeeper, config.broker_id)
        claim = IdClaim(zookeeper, config.broker_id)
        await claim.first()
        cluster_id = await found_cluster(zookeeper, znodes.ROOTS)
        dirs = shell.open_log_dirs(cluster_id, Owner.BROKER_ID)

        self._broker = broker = LeaderDrivenBroker(config, zookeeper, claim, cluster_id, dirs, shell.make_replicas)
        administrator = Administrator(
            lambda: ZooKeeperExecutor(zookeeper),
            broker.monitor,
            config.data_plane.topics,
            config.leader_driven.queue_capacity,
        )
        broker.control.administer = AdminRequests(administrator, broker.settings.writer).forward
        shell.closing.callback(administrator.close)

        # No peer has requests of its own, so all listeners answer the same ones.
        await shell.start(
            DesignApis(
                client_registry=LEADER_DRIVEN_BROKER, broker_registry=LEADER_DRIVEN_BROKER, clients={}, brokers={}
            )
        )
        shell.closing.push_async_callback(broker.close)
        shell.closing.push_async_callback(broker.leave)
        await broker.start()

    def metrics(self) -> Iterable[Sample]:
        return self._shell.metrics()

    async def failed(self) -> None:
        """Wait for ever, or raise the failure of a part: NodeFailure if another process has the id."""
        assert self._broker is not None
        await asyncio.gather(self._broker.failed(), self._shell.replicas.failed())

    async def stop(self) -> None:
        """Give up the leaderships, stop serving, and close the session last."""
        await self._shell.closing.aclose()
