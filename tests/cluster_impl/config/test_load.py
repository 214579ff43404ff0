"""The configuration of a node: what is refused, and with which message."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.load import (
    PROCESS_ROLES,
    REPLICATION_DESIGN,
    config_from,
    describe_keys,
    load_config,
)
from fencepost.cluster_impl.config.nodes import (
    LeaderDrivenNodeConfig,
    QuorumBrokerNodeConfig,
    QuorumCombinedNodeConfig,
    QuorumControllerNodeConfig,
    ZkControllerNodeConfig,
)
from fencepost.cluster_impl.config.security import JAAS_KEY_FORM
from fencepost.cluster_impl.config.table import ConfigError
from fencepost.cluster_impl.config.values import FIRST_ADDRESS, Listener, Voter
from tests.cluster_impl.configs import config_of

BROKER = {
    "process.roles": "broker",
    "broker.id": "4",
    "cluster.id": "c",
    "controller.connect": "1@node-1:9090,2@node-2:9090",
    "listeners": "INTERNAL://127.0.0.4:9090,CLIENT://127.0.0.4:9092",
    "log.dirs": "/data",
}
CONTROLLER = {
    "process.roles": "controller",
    "controller.id": "1",
    "cluster.id": "c",
    "controller.connect": "1@node-1:9090,2@node-2:9090",
    "controller.listeners": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:9090",
    "log.dirs": "/data",
}


def refusal_of(properties: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        config_from(properties)
    return str(caught.value)


@pytest.mark.requirement("K631-50", "K631-51")
def test_a_broker_gets_typed_values_and_kafkas_defaults() -> None:
    config = config_of(QuorumBrokerNodeConfig, BROKER)
    assert (config.node_id, config.log_dirs) == (4, (Path("/data"),))
    assert config.quorum.voters == (Voter(1, "node-1", 9090), Voter(2, "node-2", 9090))
    assert config.quorum.lease_timeout == 20.0
    assert config.quorum.heartbeat_interval == 2.0
    assert config.data_plane.auto_create_topics is False


BOTH = (
    CONTROLLER
    | BROKER
    | {
        "process.roles": "controller,broker",
        "listeners": f"{CONTROLLER['listeners']},{BROKER['listeners']}",
        "advertised.listeners": "CONTROLLER://node-1:9090,CLIENT://node-4:9092",
        "metadata.log.dir": "/metadata",
    }
)


@pytest.mark.requirement("K631-03", "K631-07", "K631-09")
def test_a_process_of_both_roles_has_two_ids_and_apart_listeners_and_directories() -> None:
    config = config_of(QuorumCombinedNodeConfig, BOTH)
    assert (config.broker.node_id, config.controller.node_id) == (4, 1)
    assert config.broker.listener_names == {"INTERNAL", "CLIENT"}
    assert config.controller.listener_names == {"CONTROLLER"}
    assert [each.host for each in config.controller.advertised()] == ["node-1"]
    assert [each.host for each in config.broker.advertised()] == ["127.0.0.4", "node-4"]
    assert config.broker.log_dirs == (Path("/data"),)
    assert config.controller.log_dir == Path("/metadata")
    assert config.broker.quorum == config.controller.quorum


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"broker.id": "1"}, "broker.id=1 is also the id of a controller"),
        ({"metadata.log.dir": "/data"}, "metadata.log.dir=/data is also in log.dirs"),
        ({"controller.listeners": "OTHER"}, "controller.listeners names OTHER, which is not among the listeners"),
        ({"controller.listeners": "INTERNAL"}, "the broker needs one of its own"),
    ],
)
@pytest.mark.requirement("K631-07", "K631-09")
def test_a_process_whose_roles_would_share_an_id_a_listener_or_a_directory_is_refused(
    changed: dict[str, str], message: str
) -> None:
    assert message in refusal_of(BOTH | changed)


@pytest.mark.requirement("K631-48")
def test_controllers_are_given_by_id_and_address_or_by_uri() -> None:
    config = config_of(QuorumBrokerNodeConfig, BROKER | {"controller.connect": "C://h:1, 2@node-2:9090, C://i:2"})
    assert config.quorum.voters == (
        Voter(FIRST_ADDRESS, "h", 1, "C"),
        Voter(2, "node-2", 9090),
        Voter(FIRST_ADDRESS - 1, "i", 2, "C"),
    )
    assert config.quorum.voter_addresses == {2: ("node-2", 9090)}


def test_a_uri_names_a_listener_of_controllers_that_the_node_knows() -> None:
    message = refusal_of(BROKER | {"controller.connect": "OTHER://h:1", "controller.listeners": "CONTROLLER"})
    assert "controller.connect names OTHER://h:1, and controller.listeners has no listener OTHER" in message


def test_a_controller_is_known_by_its_controller_id() -> None:
    assert config_of(QuorumControllerNodeConfig, CONTROLLER).node_id == 1


def test_advertised_listeners_replace_listeners_of_the_same_name_only() -> None:
    config = config_from(BROKER | {"advertised.listeners": "CLIENT://node-4:19092"})
    assert config.advertised() == (Listener("INTERNAL", "127.0.0.4", 9090), Listener("CLIENT", "node-4", 19092))


def test_an_unknown_key_is_refused_with_the_nearest_right_one() -> None:
    message = refusal_of(BROKER | {"registration.lease.timout.ms": "1"})
    assert message == "unknown key registration.lease.timout.ms: did you mean registration.lease.timeout.ms?"


@pytest.mark.parametrize("key", sorted(BROKER.keys() - {"process.roles"}))
@pytest.mark.requirement("K631-04", "K631-08", "K631-46", "K631-48", "D631-35")
def test_a_broker_without_a_required_key_is_refused_by_the_keys_name(key: str) -> None:
    assert f"the key {key} is missing" in refusal_of({k: v for k, v in BROKER.items() if k != key})


@pytest.mark.parametrize("key", sorted(CONTROLLER.keys() - {"process.roles"}))
@pytest.mark.requirement("K631-47", "K631-48", "K631-49", "D631-35")
def test_a_controller_without_a_required_key_is_refused_by_the_keys_name(key: str) -> None:
    assert f"the key {key} is missing" in refusal_of({k: v for k, v in CONTROLLER.items() if k != key})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("broker.id", "-1", "broker.id=-1 must lie between 0 and 2147483647."),
        ("broker.id", "four", "broker.id=four must be a whole number."),
        ("broker.id", "2", "broker.id=2 is also the id of a controller: node ids are one space."),
        ("process.roles", "broker,controller", "the key controller.id is missing"),
        ("process.roles", "zookeeper", "must be controller, broker or broker,controller"),
        ("listeners", "INTERNAL:127.0.0.4:9090", "is not NAME://host:port"),
        ("listeners", "A://h:1,A://h:2", "names the listener A twice"),
        ("listeners", "INTERNAL://h:0", "is not host:port"),
        ("controller.connect", "node-1:9090", "is neither id@host:port nor NAME://host:port"),
        ("controller.connect", "1@a:1,1@b:1", "names controller 1 twice"),
        ("inter.broker.listener.name", "REPLICATION", "is not among the listeners"),
        ("advertised.listeners", "OTHER://h:1", "names OTHER, which is not among the listeners"),
        ("listener.security.protocol.map", "CLIENT:TLS", "which is not NAME:PROTOCOL; it is PLAINTEXT, SSL"),
        ("auto.create.topics.enable", "yes", "must be true or false"),
        ("log.dirs", ",", "must name at least one directory"),
        ("registration.lease.timeout.ms", "2000", "a lease would end between two heartbeats"),
        ("registration.lease.timeout.ms", "0", "must lie between 1"),
    ],
)
@pytest.mark.requirement("K631-07", "K631-46")
def test_a_value_that_no_broker_can_run_with_is_refused_with_a_message(key: str, value: str, message: str) -> None:
    assert message in refusal_of(BROKER | {key: value})


@pytest.mark.requirement("K631-06")
def test_a_controller_that_its_own_file_does_not_name_may_join_the_quorum() -> None:
    config = config_of(QuorumControllerNodeConfig, CONTROLLER | {"controller.id": "3"})
    assert config.node_id not in config.quorum.voter_ids


@pytest.mark.requirement("K631-09", "K631-47")
def test_controller_listeners_are_the_only_listeners_of_a_controller() -> None:
    assert "controller.listeners must name exactly" in refusal_of(CONTROLLER | {"controller.listeners": "INTERNAL"})


@pytest.mark.requirement("D631-27")
@pytest.mark.parametrize("node", [CONTROLLER, BROKER], ids=["controller", "broker"])
def test_a_node_of_the_quorum_design_has_one_log_dir(node: dict[str, str]) -> None:
    assert "log.dirs must name exactly one directory" in refusal_of(node | {"log.dirs": "/a,/b"})
    assert config_from(node | {"log.dirs": "/a"}).log_dirs == (Path("/a"),)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.properties cannot be read: No such file"):
        load_config(tmp_path / "absent.properties")


def test_a_file_names_itself_in_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "node.properties"
    path.write_text("process.roles=broker\nbrker.id=4\n")
    with pytest.raises(ConfigError, match=r"node\.properties: unknown key brker\.id: did you mean broker\.id\?"):
        load_config(path)


def test_a_key_that_this_node_has_no_use_for_is_read_all_the_same() -> None:
    assert "min.insync.replicas=none must be a whole number" in refusal_of(CONTROLLER | {"min.insync.replicas": "none"})
    assert "broker.id=four must be a whole number" in refusal_of(CONTROLLER | {"broker.id": "four"})
    assert config_from(CONTROLLER | {"min.insync.replicas": "2", "broker.id": "4"}).node_id == 1


def test_help_lists_every_key_once_with_its_unit_and_default() -> None:
    text = describe_keys()
    nodes = (QuorumCombinedNodeConfig, QuorumControllerNodeConfig, ZkControllerNodeConfig, LeaderDrivenNodeConfig)
    names = {key.name for node in nodes for key in node.all_keys()} | {PROCESS_ROLES.name, REPLICATION_DESIGN.name}
    assert sorted(re.findall(r"^  (\S+) \(", text, re.MULTILINE)) == sorted([*names, JAAS_KEY_FORM])
    assert "registration.lease.timeout.ms (milliseconds, default 20000)" in text
    assert "broker.id (whole number, required)" in text
    assert "hosts.file (file, optional)" in text
