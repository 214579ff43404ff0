"""A node of the `zk-controller` design: a broker that may be elected controller, on one ZooKeeper session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from fencepost.cluster_impl.config.nodes import ZkControllerNodeConfig
from fencepost.cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from fencepost.cluster_impl.designs.on_zookeeper.node_session import open_session
from fencepost.cluster_impl.designs.shared.broker_shell import BrokerShell, DesignApis
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.broker import Broker
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.host import controller_host
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import ControllerConfig
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.storage.directory import Owner
from fencepost.cluster_impl.wire.registry import KAFKA, ZK_BROKER


class ZkNode:
    """Implements `fencepost.cluster_impl.node.Node`."""

    def __init__(self, config: ZkControllerNodeConfig) -> None:
        self._config = config
        self._shell = BrokerShell(config)
        self._broker: Broker | None = None
        self._watched: list[Callable[[], Awaitable[None]]] = []
        """Awaited by `failed`."""

    async def start(self) -> None:
        """Start the node. It listens before it registers, as the controller connects as soon as it sees the znode."""
        config, shell = self._config, self._shell
        zookeeper = await open_session(shell, config.zookeeper, config.broker_id)
        cluster_id = await found_cluster(zookeeper, znodes.ROOTS)
        dirs = shell.open_log_dirs(cluster_id, Owner.BROKER_ID)

        listener = config.data_plane.inter_broker_listener
        host = controller_host(
            ControllerConfig(config.broker_id, listener, config.controller, config.data_plane.topics),
            zookeeper,
            shell.connector(listener, ZK_BROKER, f"controller-{config.broker_id}"),
            self._is_registered,
        )
        connect = shell.connector(listener, ZK_BROKER, f"broker-{config.broker_id}")
        broker = Broker(config, zookeeper, cluster_id, dirs, host.known_controller, connect, shell.make_replicas)
        host.listeners.append(broker.controller_is)
        broker.registrations.append(host.reconsider)
        self._broker, self._watched = broker, [broker.failed, host.failed, shell.replicas.failed]

        # Between brokers CreateTopics and DeleteTopics go to the controller in this process; elsewhere the broker
        # forwards them.
        of_brokers = {**broker.handlers, **host.handlers}
        await shell.start(DesignApis(client_registry=KAFKA, broker_registry=ZK_BROKER, clients={}, brokers=of_brokers))
        shell.closing.push_async_callback(broker.close)
        await broker.start()
        await host.start()
        shell.closing.push_async_callback(host.stop)
        shell.closing.push_async_callback(broker.leave)

    def _is_registered(self) -> bool:
        return self._broker is not None and self._broker.is_registered

    def metrics(self) -> Iterable[Sample]:
        return self._shell.metrics()

    async def failed(self) -> None:
        await asyncio.gather(*(failed() for failed in self._watched))

    async def stop(self) -> None:
        """Hand over leaderships, resign as controller, stop serving, and close the session last."""
        await self._shell.closing.aclose()
