"""What replicas are configured with, by the design of the node."""

from __future__ import annotations

from cluster_impl.config import config_from
from cluster_impl.config_data_plane import replication_config
from cluster_impl.replication.rules import KIP_101, REPLICATION_V2

BROKER = {
    "broker.id": "4",
    "zookeeper.connect": "zk-1:2181",
    "listeners": "INTERNAL://127.0.0.4:9090,CLIENT://127.0.0.4:9092",
    "log.dirs": "/a",
    "replica.lag.time.max.ms": "7000",
}
LEADER_DRIVEN = {"replication.design": "leader-driven", "keep.in.sync.time.ms": "1500", "leader.tick.interval.ms": "50"}


def test_a_controllers_broker_truncates_by_leader_epochs_and_has_the_lag_limit_of_kafka() -> None:
    config = replication_config(config_from(BROKER))
    assert (config.rules, config.lag_limit, config.isr_check_interval) == (KIP_101, 7.0, None)


def test_without_a_controller_the_rules_and_the_lag_limit_are_those_of_the_text() -> None:
    properties = {key: value for key, value in BROKER.items() if key != "replica.lag.time.max.ms"}
    config = replication_config(config_from(properties | LEADER_DRIVEN))
    assert (config.rules, config.lag_limit, config.isr_check_interval) == (REPLICATION_V2, 1.5, 0.05)
    assert config.notes_empty_replicas
