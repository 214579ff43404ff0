"""The configuration of replicas, by the design of the node."""

from __future__ import annotations

from fencepost.cluster_impl.config.nodes import LeaderDrivenNodeConfig, ZkControllerNodeConfig
from tests.cluster_impl.configs import config_of

BROKER = {
    "broker.id": "4",
    "zookeeper.connect": "zk-1:2181",
    "listeners": "INTERNAL://127.0.0.4:9090,CLIENT://127.0.0.4:9092",
    "log.dirs": "/a",
    "replica.lag.time.max.ms": "7000",
}
LEADER_DRIVEN = {"replication.design": "leader-driven", "keep.in.sync.time.ms": "1500", "leader.tick.interval.ms": "50"}


def test_a_controllers_broker_has_the_lag_limit_of_kafka() -> None:
    config = config_of(ZkControllerNodeConfig, BROKER).data_plane
    assert (config.lag_limit, config.isr_check_interval) == (7.0, None)


def test_without_a_controller_the_lag_limit_is_that_of_the_text() -> None:
    properties = {key: value for key, value in BROKER.items() if key != "replica.lag.time.max.ms"}
    config = config_of(LeaderDrivenNodeConfig, properties | LEADER_DRIVEN).data_plane
    assert (config.lag_limit, config.isr_check_interval) == (1.5, 0.05)
