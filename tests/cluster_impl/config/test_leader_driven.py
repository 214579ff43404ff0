"""The configuration of a node whose cluster has no controller."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.cluster_impl.config.leader_driven import LeaderDrivenConfig
from fencepost.cluster_impl.config.load import config_from
from fencepost.cluster_impl.config.nodes import LeaderDrivenNodeConfig, ZkControllerNodeConfig
from fencepost.cluster_impl.config.table import ConfigError
from tests.cluster_impl.configs import config_of

BROKER = {
    "replication.design": "leader-driven",
    "broker.id": "4",
    "zookeeper.connect": "zk-1:2181",
    "listeners": "INTERNAL://127.0.0.4:9090,CLIENT://127.0.0.4:9092",
    "log.dirs": "/a",
}


def refusal_of(properties: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        config_from(properties)
    return str(caught.value)


def leader_driven(properties: dict[str, str]) -> LeaderDrivenConfig:
    return config_of(LeaderDrivenNodeConfig, properties).leader_driven


def test_the_design_is_the_one_with_a_controller_unless_another_is_named() -> None:
    unnamed = {k: v for k, v in BROKER.items() if k != "replication.design"}
    assert isinstance(config_from(unnamed), ZkControllerNodeConfig)
    assert isinstance(config_from(BROKER | {"replication.design": "controller"}), ZkControllerNodeConfig)
    found = leader_driven(BROKER)
    assert (found.election_wait, found.preferred_wait, found.keep_in_sync) == (5.0, 1.0, 10.0)
    assert (found.queue_capacity, found.tick, found.metrics_file) == (1000, 0.2, None)


def test_the_parameters_of_the_text_are_read_in_milliseconds() -> None:
    found = leader_driven(
        BROKER
        | {
            "leader.election.wait.time.ms": "1500",
            "preferred.replica.wait.time.ms": "0",
            "keep.in.sync.time.ms": "1501",
            "state.change.queue.max.requests": "7",
            "leader.tick.interval.ms": "100",
            "metrics.file": "/m.json",
        }
    )
    assert (found.election_wait, found.preferred_wait, found.keep_in_sync) == (1.5, 0.0, 1.501)
    assert (found.queue_capacity, found.tick, found.metrics_file) == (7, 0.1, Path("/m.json"))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("replication.design", "v3", "must be one of controller, leader-driven"),
        ("keep.in.sync.time.ms", "0", "must lie between 1"),
        ("leader.election.wait.time.ms", "1000", "preferred.replica.wait.time.ms must be shorter"),
        ("inter.broker.protocol.version", "2.6", "is one of nodes with replication.design=controller"),
        ("controlled.shutdown.enable", "true", "is one of nodes with replication.design=controller"),
        ("replica.lag.time.max.ms", "1000", "has no effect in this design: set keep.in.sync.time.ms"),
    ],
)
def test_a_value_that_no_node_of_this_design_can_run_with_is_refused(key: str, value: str, message: str) -> None:
    assert message in refusal_of(BROKER | {key: value})


def test_a_broker_of_this_design_may_have_a_rack() -> None:
    assert config_of(LeaderDrivenNodeConfig, BROKER | {"broker.rack": "r1"}).rack == "r1"
    assert config_of(LeaderDrivenNodeConfig, BROKER).rack is None


def test_a_key_of_this_design_is_refused_by_a_node_of_the_other() -> None:
    other = BROKER | {"replication.design": "controller", "keep.in.sync.time.ms": "1"}
    assert "keep.in.sync.time.ms is one of nodes with replication.design=leader-driven" in refusal_of(other)
