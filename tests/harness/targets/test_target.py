"""Target files, and the configuration that each target gives its nodes."""

from pathlib import Path

import pytest

from cluster_impl.config import load_config
from faults.capabilities import Capability
from harness.errors import HarnessError, UsageError
from harness.network.addresses import Addresses
from harness.network.layout import Layout, Node, Role, site_names
from harness.plan.model import Timing
from harness.targets import target as targets
from harness.targets.target import Dialect, Installation, UnknownTarget, load, load_file, new_uuid, write_properties

ADDRESSES = Addresses(20)


def _node(name: str, id: int, index: int, role: Role, duplicate_of: str | None = None) -> Node:
    return Node(name, id, index, frozenset({role}), ADDRESSES.node(index), duplicate_of)


CONTROLLER, BROKER = _node("node-1", 1, 1, Role.CONTROLLER), _node("node-4", 4, 4, Role.BROKER)
DUPLICATE = _node("node-4b", 4, 14, Role.BROKER, duplicate_of="node-4")


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    nodes = (CONTROLLER, _node("node-2", 2, 2, Role.CONTROLLER), BROKER, DUPLICATE)
    layout = Layout(ADDRESSES, nodes, site_names([]))
    return Installation(layout, Timing(heartbeat_ms=111, lease_ms=1234), "cluster", tmp_path)


@pytest.mark.parametrize("name", targets.names())
def test_every_target_file_is_right_and_its_driver_exists(name: str) -> None:
    target = load(name)
    assert target.file.name == name
    assert target.version == target.file.version
    assert set(target.file.timing) == set(Timing.model_fields)


def test_both_dialects_are_there() -> None:
    assert load_file("quorum").dialect is Dialect.KIP_631
    assert load_file("apache-kafka").dialect is Dialect.KRAFT
    assert load_file("apache-kafka").capabilities == set(Capability)


def test_a_version_is_a_parameter_of_the_reference() -> None:
    assert load("apache-kafka:3.6.2").version == "3.6.2"
    assert load("apache-kafka").version == "4.3.1"


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("kafka", "there is no target 'kafka': the targets are apache-kafka, quorum"),
        ("quorum:7", "quorum has no version '7'"),
        ("apache-kafka:new", "'new' is no version of Apache Kafka"),
    ],
)
def test_a_target_that_does_not_exist_is_refused_with_a_sentence(reference: str, sentence: str) -> None:
    with pytest.raises(HarnessError, match=sentence):
        load(reference)


def test_a_wrong_key_in_a_target_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "FILES", tmp_path)
    (tmp_path / "odd.yaml").write_text("name: odd\ncapabilitys: [links]\n")
    with pytest.raises(UsageError, match="capabilitys"):
        load_file("odd")
    with pytest.raises(UnknownTarget):
        load_file("odder")


@pytest.mark.parametrize("name", targets.names())
def test_the_plan_s_timeouts_reach_the_configuration(name: str, installation: Installation) -> None:
    properties = load(name).properties(BROKER, installation)
    for field, keys in load_file(name).timing.items():
        assert {properties[key] for key in keys} == {str(getattr(installation.timing, field))}


@pytest.mark.parametrize("name", targets.names())
def test_peers_are_told_a_name_and_clients_the_main_site_s_address(name: str, installation: Installation) -> None:
    target = load(name)
    properties = target.properties(BROKER, installation)
    assert properties["listeners"] == "INTERNAL://127.20.0.4:9090,CLIENT://127.20.0.4:9092"
    assert properties["advertised.listeners"] == "INTERNAL://node-4:9090,CLIENT://127.20.200.4:9092"
    properties = target.properties(CONTROLLER, installation)
    assert properties["listeners"] == "CONTROLLER://127.20.0.1:9090"
    assert properties["advertised.listeners"] == "CONTROLLER://node-1:9090"


def test_a_duplicate_claims_the_id_of_another_under_a_name_of_its_own(installation: Installation) -> None:
    properties = load("apache-kafka").properties(DUPLICATE, installation)
    assert properties["node.id"] == "4"
    assert properties["advertised.listeners"].startswith("INTERNAL://node-4b:9090")
    assert properties["controller.quorum.voters"] == "1@node-1:9090,2@node-2:9090"


def test_a_controller_before_3_9_is_told_no_name_since_it_would_refuse_it(installation: Installation) -> None:
    assert "advertised.listeners" not in load("apache-kafka:3.6.2").properties(CONTROLLER, installation)
    assert "advertised.listeners" in load("apache-kafka:3.9.1").properties(CONTROLLER, installation)


@pytest.mark.parametrize("node", [CONTROLLER, BROKER, DUPLICATE])
def test_the_reference_cluster_takes_what_its_target_writes(node: Node, installation: Installation) -> None:
    path = installation.properties(node)
    path.parent.mkdir()
    write_properties(path, load("quorum").properties(node, installation))
    load_config(path)


def test_a_cluster_id_never_begins_with_a_dash() -> None:
    assert not any(new_uuid().startswith("-") for _ in range(2000))
