"""A controller host as a node's configuration wants it."""

from __future__ import annotations

from collections.abc import Callable

from cluster_impl.config import NodeConfig
from cluster_impl.config_zookeeper import ZooKeeperConfig
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.zk_controller.controller.channels import Answered, Channels
from cluster_impl.designs.zk_controller.controller.controller import Controller
from cluster_impl.designs.zk_controller.controller.core import ControllerConfig
from cluster_impl.designs.zk_controller.controller.host import ControllerHost
from cluster_impl.security.configured import login_of
from cluster_impl.wire.client import Connection
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.registry import ZK_BROKER


def controller_host(
    config: NodeConfig, zookeeper: ZooKeeper, hosts: Hosts, is_registered: Callable[[], bool] = lambda: True
) -> ControllerHost:
    """Raises ConfigError."""
    legacy = config.zookeeper
    assert legacy is not None, "only a node with zookeeper.connect can be this controller"
    core_config = controller_config(config, legacy)
    login = login_of(config.security, config.inter_broker_listener)
    client_id = f"controller-{config.broker_id}"

    async def connect(host: str, port: int, timeout: float) -> Connection:
        return await Connection.open(host, port, ZK_BROKER, client_id, hosts=hosts, timeout=timeout, login=login)

    def make_channels(answered: Answered) -> Channels:
        return Channels(connect, config.inter_broker_listener, legacy.controller_socket_timeout, answered)

    return ControllerHost(config.broker_id, zookeeper, lambda: Controller(core_config), make_channels, is_registered)


def controller_config(config: NodeConfig, legacy: ZooKeeperConfig) -> ControllerConfig:
    return ControllerConfig(
        controller_id=config.broker_id,
        level=legacy.ibp,
        listener=config.inter_broker_listener,
        heartbeat_timeout=legacy.controller_heartbeat_timeout,
        unclean_leader_election=legacy.unclean_leader_election,
        delete_topics=legacy.delete_topic,
        auto_leader_rebalance=legacy.auto_leader_rebalance,
        leader_imbalance_check_interval=legacy.leader_imbalance_check_interval,
        leader_imbalance_percentage=legacy.leader_imbalance_percentage,
        default_partitions=config.num_partitions,
        default_replication_factor=config.default_replication_factor,
    )
