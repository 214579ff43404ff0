"""Target files, and the configuration that each target gives its nodes."""

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.load import load_config
from fencepost.cluster_impl.config.nodes import QuorumCombinedNodeConfig
from fencepost.faults.capabilities import Capability
from fencepost.faults.links.cut import CutParameters
from fencepost.harness.errors import HarnessError, UsageError
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.registered import Registered
from fencepost.harness.plan.conditions.replica_offline import ReplicaOffline
from fencepost.harness.plan.conditions.watches import Watches
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import Plan, Timing, TopicSpec, Topology
from fencepost.harness.plan.requests.describe_quorum import DescribeQuorumProbe
from fencepost.harness.plan.requests.metadata import MetadataProbe
from fencepost.harness.plan.requests.metadata_log import MetadataLogProbe
from fencepost.harness.plan.requests.update_metadata import UpdateMetadataProbe
from fencepost.harness.plan.security import SECURITIES, Security, SecurityName
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.roll import Roll
from fencepost.harness.targets import registry as targets
from fencepost.harness.targets.certificates import Authority
from fencepost.harness.targets.fitting import check_design
from fencepost.harness.targets.registry import UnknownTarget, load, load_file
from fencepost.harness.targets.securing import unsecurable
from fencepost.harness.targets.target import Installation, new_uuid, write_configuration, write_properties
from tests.harness.sample_target import VISIBLE

ADDRESSES = Addresses(20)


def _node(name: str, id: int, index: int, role: Role, duplicate_of: str | None = None) -> Node:
    return Node(name, id, index, frozenset({role}), ADDRESSES.node(index), duplicate_of)


CONTROLLER, BROKER = _node("node-1", 1, 1, Role.CONTROLLER), _node("node-4", 4, 4, Role.BROKER)
ZOOKEEPER = _node("zk-3", 3, 3, Role.ZOOKEEPER)
DUPLICATE = _node("node-4b", 4, 14, Role.BROKER, duplicate_of="node-4")


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    nodes = (CONTROLLER, _node("node-2", 2, 2, Role.CONTROLLER), ZOOKEEPER, BROKER, DUPLICATE)
    layout = Layout(ADDRESSES, nodes, site_names([]))
    return Installation(layout, Timing(heartbeat_ms=111, lease_ms=1234), "cluster", tmp_path)


@pytest.mark.parametrize("name", targets.names())
def test_every_target_file_is_right_and_its_driver_exists(name: str) -> None:
    target = load(name)
    assert target.file.name == name
    assert target.version == target.file.version
    assert set(target.file.timing) == (set(Timing.model_fields) if name in VISIBLE else set())
    assert type(target).__module__.startswith("fencepost."), "a second copy of the module, and none in a wheel"


def test_every_dialect_has_its_targets() -> None:
    assert load_file("quorum").dialect is Dialect.KIP_631
    assert load_file("apache-kafka").dialect is Dialect.KRAFT
    assert load_file("apache-kafka").capabilities == set(Capability) - {Capability.LOG_DIRS}
    assert load_file("leader-driven").dialect is Dialect.LEADER_DRIVEN
    assert not load_file("leader-driven").dialect.has_controllers
    for name in ("zk-controller", "apache-kafka-zk"):
        assert load_file(name).dialect is Dialect.ZOOKEEPER
    for name in ("zk-controller", "apache-kafka-zk", "leader-driven"):
        assert load_file(name).dialect.uses_zookeeper
        assert load_file(name).capabilities == set(Capability) - {Capability.CERTIFICATES, Capability.USERS}


def test_a_version_is_a_parameter_of_the_reference() -> None:
    assert load("apache-kafka:3.6.2").version == "3.6.2"
    assert load("apache-kafka").version == "4.4.0"
    assert load("apache-kafka-zk:2.8.2").version == "2.8.2"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (
            "kafka",
            r"no target 'kafka': did you mean apache-kafka\? the targets are apache-kafka, apache-kafka-zk, kfake, ",
        ),
        ("zk-controller:7", "zk-controller has no version '7'"),
        ("apache-kafka-zk:4.0.0", "Apache Kafka 4.0.0 runs without ZooKeeper: ask for apache-kafka:4.0.0"),
        ("quorum:7", "quorum has no version '7'"),
        ("apache-kafka:new", "'new' is not a version of Apache Kafka"),
        (
            "apache-kafka:9.9.9",
            r"apache-kafka has no release '9.9.9'; the nearest known is [0-9.]+; one is looked f",
        ),
        ("apache-kafka-zk:0.8.2", r"apache-kafka-zk has no release '0.8.2': its releases are >=0.10.2,<4.0"),
    ],
)
def test_a_target_that_does_not_exist_is_refused_with_a_message(reference: str, message: str) -> None:
    with pytest.raises(HarnessError, match=message):
        load(reference)


def test_a_wrong_key_in_a_target_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "FILES", tmp_path)
    (tmp_path / "odd.yaml").write_text("name: odd\ncapabilitys: [links]\n")
    with pytest.raises(UsageError, match=r"unknown key `capabilitys` at .*odd.yaml:2; did you mean `capabilities`"):
        load_file("odd")
    with pytest.raises(UnknownTarget):
        load_file("odder")


@pytest.mark.parametrize("name", VISIBLE)
def test_the_plan_s_timeouts_reach_the_configuration(name: str, installation: Installation) -> None:
    properties = load(name).properties(BROKER, installation)
    for field, keys in load_file(name).timing.items():
        assert {properties[key] for key in keys} <= {str(getattr(installation.timing, field))}


@pytest.mark.parametrize("name", VISIBLE)
def test_peers_get_a_name_and_clients_the_main_site_s_address(name: str, installation: Installation) -> None:
    properties = load(name).properties(BROKER, installation)
    assert properties["listeners"] == "INTERNAL://127.20.0.4:9090,CLIENT://127.20.0.4:9092"
    assert properties["advertised.listeners"] == "INTERNAL://node-4:9090,CLIENT://127.20.200.4:9092"


@pytest.mark.parametrize("name", ["quorum", "apache-kafka"])
def test_controllers_get_a_name_for_each_other(name: str, installation: Installation) -> None:
    properties = load(name).properties(CONTROLLER, installation)
    assert properties["listeners"] == "CONTROLLER://127.20.0.1:9090"
    assert properties["advertised.listeners"] == "CONTROLLER://node-1:9090"


BOTH = Node("node-5", 5, 5, frozenset({Role.BROKER, Role.CONTROLLER}), ADDRESSES.node(5), controller_id=2)


def _beside(installation: Installation, *more: Node) -> Installation:
    layout = Layout(ADDRESSES, (CONTROLLER, BROKER, *more), site_names([]))
    return replace(installation, layout=layout)


def test_a_process_of_two_roles_has_the_ids_listeners_and_directories_of_both(installation: Installation) -> None:
    beside = _beside(installation, BOTH)
    properties = load("quorum").properties(BOTH, beside)
    assert (properties["broker.id"], properties["controller.id"]) == ("5", "2")
    assert properties["controller.connect"] == "1@node-1:9090,2@node-5:9091"
    assert properties["listeners"] == (
        "CONTROLLER://127.20.0.5:9091,INTERNAL://127.20.0.5:9090,CLIENT://127.20.0.5:9092"
    )
    assert properties["advertised.listeners"] == (
        "CONTROLLER://node-5:9091,INTERNAL://node-5:9090,CLIENT://127.20.200.5:9092"
    )
    path = installation.nodes / "node-5.properties"
    write_properties(path, properties)
    config = load_config(path)
    assert isinstance(config, QuorumCombinedNodeConfig)
    assert (config.broker.broker_id, config.controller.controller_id) == (5, 2)


def test_a_controller_that_starts_later_is_no_voter_for_anybody(installation: Installation) -> None:
    later = replace(_node("node-7", 7, 7, Role.CONTROLLER), joins=True)
    beside = _beside(installation, later)
    for node in (BROKER, CONTROLLER, later):
        assert load("quorum").properties(node, beside)["controller.connect"] == "1@node-1:9090"


def test_shipped_kafka_has_one_id_for_both_roles(installation: Installation) -> None:
    with pytest.raises(UsageError, match=r"node-5 has a `controller_id`.*apache-kafka.*one id for both roles"):
        load("apache-kafka").properties(BOTH, _beside(installation, BOTH))


def test_a_node_finds_voters_that_change_by_the_addresses_of_the_first(installation: Installation) -> None:
    later = replace(_node("node-7", 7, 7, Role.CONTROLLER), joins=True)
    beside = _beside(installation, later)
    for node in (BROKER, CONTROLLER, later):
        properties = load("apache-kafka").properties(replace(node, level="dynamic"), beside)
        assert properties["controller.quorum.bootstrap.servers"] == "node-1:9090"
        assert "controller.quorum.voters" not in properties
    assert "controller.quorum.bootstrap.servers" not in load("apache-kafka").properties(BROKER, beside)


@pytest.mark.parametrize("name", VISIBLE)
def test_every_log_directory_of_a_node_is_configured(name: str, installation: Installation) -> None:
    node = replace(BROKER, log_dirs=3)
    folder = installation.nodes / "node-4"
    assert installation.log_dirs(node) == (folder / "data", folder / "data-2", folder / "data-3")
    assert load(name).properties(node, installation)["log.dirs"].split(",") == [
        str(path) for path in installation.log_dirs(node)[: 1 if name == "quorum" else 3]
    ]


@pytest.mark.parametrize("name", ["zk-controller", "apache-kafka-zk", "leader-driven"])
def test_a_level_is_what_the_target_file_sets_for_it(name: str, installation: Installation) -> None:
    target = load(name)
    for level, settings in target.file.levels.items():
        properties = target.properties(replace(BROKER, level=level), installation)
        assert settings.items() <= properties.items()
    assert "inter.broker.protocol.version" not in target.properties(BROKER, installation)


def test_the_design_without_controllers_is_asked_for_and_counts_into_the_node_s_folder(
    installation: Installation,
) -> None:
    properties = load("leader-driven").properties(BROKER, installation)
    assert properties["replication.design"] == "leader-driven"
    assert properties["metrics.file"] == str(installation.nodes / "node-4" / "metrics.json")
    assert "metrics.file" not in load("leader-driven").properties(ZOOKEEPER, installation)


def test_a_level_that_a_target_lacks_is_refused_wherever_the_plan_names_it() -> None:
    file = load_file("zk-controller")
    plan = Plan(scenario="s", title="s", document="d", seed=1, target="zk-controller", topology=Topology(nodes=()))
    file.check_levels(plan.model_copy(update={"level": "heartbeats"}))
    rolls = plan.model_copy(update={"steps": (Roll(node="node-4", level="shipped"),)})
    for wrong in (plan.model_copy(update={"level": "shipped"}), rolls):
        with pytest.raises(UsageError, match="has no protocol level 'shipped'; its levels: base, heartbeats, replica-"):
            file.check_levels(wrong)


def test_a_level_that_one_of_two_releases_lacks_is_refused_with_the_releases_that_have_it() -> None:
    upgrade = "apache-kafka:{}..4.3.1"
    plan = Plan(scenario="s", title="s", document="d", seed=1, target="apache-kafka", topology=Topology(nodes=()))
    plan = plan.model_copy(update={"level": "dynamic"})
    load(upgrade.format("3.9.2")).file.check_levels(plan)
    with pytest.raises(UsageError, match=r"'dynamic' here: it is one of the releases >=3.9, and of two releases both"):
        load(upgrade.format("3.8.1")).file.check_levels(plan)


@pytest.mark.parametrize(
    ("step", "what"),
    [
        (inject("cut", CutParameters(from_="node-4", to="controllers")), "`controllers`"),
        (MetadataProbe(node="active-controller"), "`active-controller`"),
        (UpdateMetadataProbe(node="node-4"), "`active-controller`"),
        (ActiveController(within_ms=1), "`active-controller`"),
        (DescribeQuorumProbe(node="node-4"), "`describe-quorum`"),
        (Bind(as_="e", value="controller-epoch"), "`controller-epoch`"),
        (ReplicaOffline(node="node-4", partition="t-0", within_ms=1), "no node in `asked`"),
    ],
)
def test_a_plan_about_controllers_is_refused_where_there_are_none(step: Step, what: str) -> None:
    plan = Plan(scenario="s", title="s", document="d", seed=1, target="x", topology=Topology(nodes=()), steps=(step,))
    check_design(load_file("zk-controller"), plan)
    with pytest.raises(UsageError, match=f"has {what}, but leader-driven has no controllers: its state is in `zookee"):
        check_design(load_file("leader-driven"), plan)


def test_a_plan_that_reads_the_drafts_records_is_refused_where_they_are_not_written() -> None:
    step = MetadataLogProbe(as_="read", node="active-controller")
    plan = Plan(scenario="s", title="s", document="d", seed=1, target="x", topology=Topology(nodes=()), steps=(step,))
    check_design(load_file("quorum"), plan)
    for target in ("apache-kafka", "zk-controller"):
        with pytest.raises(UsageError, match="the step read reads the records of the KIP-631 draft, which"):
            check_design(load_file(target), plan)


def test_no_broker_is_started_first_to_be_controller_where_there_is_none() -> None:
    topology = Topology(nodes=(), controller="node-4")
    plan = Plan(scenario="s", title="s", document="d", seed=1, target="x", topology=topology)
    check_design(load_file("zk-controller"), plan)
    with pytest.raises(UsageError, match="names node-4 as first controller, but leader-driven has no controllers"):
        check_design(load_file("leader-driven"), plan)


def test_a_plan_about_zookeeper_is_refused_where_there_is_none() -> None:
    plan = Plan(scenario="s", title="s", document="d", seed=1, target="x", topology=Topology(nodes=()))
    watches = plan.model_copy(update={"steps": (Watches(as_="w", kind="any", count=0, within_ms=1),)})
    check_design(load_file("leader-driven"), watches)
    with pytest.raises(UsageError, match="the step w needs ZooKeeper, but quorum runs without it"):
        check_design(load_file("quorum"), watches)


def test_what_a_fault_waits_for_is_held_against_the_design_too() -> None:
    plan = Plan(scenario="s", title="s", document="d", seed=1, target="x", topology=Topology(nodes=()))
    elected = inject("cut", CutParameters(from_="node-4", to="node-5"), when=ActiveController(within_ms=1))
    with pytest.raises(
        UsageError, match="`when` of the step cut has `active-controller`, but leader-driven has no contr"
    ):
        check_design(load_file("leader-driven"), plan.model_copy(update={"steps": (elected,)}))
    registered = inject("cut", CutParameters(from_="node-4", to="node-5"), when=Registered(node="node-4", within_ms=1))
    check_design(load_file("leader-driven"), plan.model_copy(update={"steps": (registered,)}))
    with pytest.raises(UsageError, match="`when` of the step cut needs ZooKeeper, but quorum runs without it"):
        check_design(load_file("quorum"), plan.model_copy(update={"steps": (registered,)}))


def test_topics_are_prepared_only_where_a_broker_finds_them_when_it_starts() -> None:
    prepared = (TopicSpec(name="t", assignments=((4,),), prepared=True),)
    plan = Plan(scenario="s", title="s", document="d", seed=1, target="x", topology=Topology(nodes=()), topics=prepared)
    check_design(load_file("leader-driven"), plan)
    with pytest.raises(UsageError, match="zk-controller creates topics by request only: drop `prepared` of t"):
        check_design(load_file("zk-controller"), plan)


def test_a_duplicate_claims_the_id_of_another_under_a_name_of_its_own(installation: Installation) -> None:
    properties = load("apache-kafka").properties(DUPLICATE, installation)
    assert properties["node.id"] == "4"
    assert properties["advertised.listeners"].startswith("INTERNAL://node-4b:9090")
    assert properties["controller.quorum.voters"] == "1@node-1:9090,2@node-2:9090"


def test_a_controller_before_3_9_gets_no_name_since_it_would_refuse_it(installation: Installation) -> None:
    assert "advertised.listeners" not in load("apache-kafka:3.6.2").properties(CONTROLLER, installation)
    assert "advertised.listeners" in load("apache-kafka:3.9.1").properties(CONTROLLER, installation)
    both = replace(BOTH, controller_id=None)
    assert load("apache-kafka:3.6.2").properties(both, _beside(installation, both))["advertised.listeners"] == (
        "INTERNAL://node-5:9090,CLIENT://127.20.200.5:9092"
    )


TWO_DIRS = [replace(node, log_dirs=2) for node in (BROKER, DUPLICATE)]
REFERENCE: list[tuple[str, SecurityName, Node]]
REFERENCE = [("quorum", each, node) for each in SECURITIES for node in (CONTROLLER, BROKER, DUPLICATE)]
ZOOKEEPER_TARGETS = ("zk-controller", "leader-driven")
REFERENCE += [(name, each, node) for name in ZOOKEEPER_TARGETS for each in ("plaintext", "sasl") for node in TWO_DIRS]


@pytest.mark.parametrize(("name", "security", "node"), REFERENCE)
def test_the_reference_cluster_takes_what_its_target_writes(
    name: str, security: SecurityName, node: Node, installation: Installation
) -> None:
    secured = SECURITIES[security]
    authority = Authority(installation.nodes) if secured.has_tls else None
    installation = replace(installation, security=secured, authority=authority)
    target = load(name)
    for level in (None, *target.file.levels):
        leveled = replace(node, level=level)
        path = installation.properties(leveled)
        path.parent.mkdir(exist_ok=True)
        write_configuration(target, leveled, installation)
        load_config(path)


@pytest.mark.parametrize(
    ("name", "security", "reason"),
    [
        ("quorum", SECURITIES["tls-scram"], None),
        ("apache-kafka", SECURITIES["tls-scram"], None),
        ("apache-kafka", Security(controller=SECURITIES["sasl-scram"].client), "cannot log in to each other by SCRAM"),
        ("apache-kafka-zk", SECURITIES["sasl"], "no listener of apache-kafka-zk is secured"),
        ("zk-controller", SECURITIES["sasl"], None),
        ("zk-controller", SECURITIES["tls"], "zk-controller has only `security: sasl`"),
    ],
)
def test_a_security_that_a_target_cannot_have_is_refused_with_the_reason(
    name: str, security: Security, reason: str | None
) -> None:
    found = unsecurable(load(name), security)
    assert found is None if reason is None else reason in str(found)


def test_settings_of_a_node_win_and_null_leaves_a_key_out(installation: Installation, tmp_path: Path) -> None:
    own = (("log.dirs", "elsewhere"), ("cluster.id", None), ("metrics.listener", "{address}:9404"))
    write_configuration(load("quorum"), replace(BROKER, settings=own), installation, tmp_path)
    lines = (tmp_path / "node.properties").read_text().splitlines()
    assert "log.dirs=elsewhere" in lines
    assert f"metrics.listener={BROKER.address}:9404" in lines
    assert not any(line.startswith("cluster.id=") for line in lines)


def test_a_cluster_id_never_begins_with_a_dash() -> None:
    assert not any(new_uuid().startswith("-") for _ in range(2000))
