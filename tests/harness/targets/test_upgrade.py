"""Targets with two releases: each node is configured and started by its own, and the file is that of both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.harness.cli.plan import plan_of
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.conditions.runs_release import RunsRelease
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.plan.requests.update_features import UpdateFeaturesProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.roll import Roll
from fencepost.harness.targets.fitting import check_design
from fencepost.harness.targets.registry import VARIABLE, load, load_file
from fencepost.harness.targets.target import Installation
from fencepost.harness.yaml_file import YamlFileError
from fencepost.suites.target_facts import TargetFacts
from tests.harness.targets.test_registry import ACME
from tests.harness.targets.test_target import BROKER, installation

__all__ = ["installation"]

PROCESS = """\
process: {command: ["acme-{{ version }}"], properties: {all: {v: "{{ version }}", level: "{{ level }}"}}}
upgrade: {says: 'acme (\\S+) started', protocol: [wire]}
differences:
  - {id: AC-01, requirement: K631-41, message: It waits., reason: A timer., releases: "<2"}
  - {id: AC-02, requirement: K631-44, message: It leaps., reason: A race., releases: ">=2"}
"""


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, "")
    text = ACME.replace("driver: fencepost.harness.targets.quorum:Quorum\n", PROCESS)
    (tmp_path / "acme.yaml").write_text(text)
    return f"{tmp_path}/acme.yaml"


def test_a_node_is_started_with_the_release_that_it_has(acme: str, installation: Installation) -> None:
    target = load(f"{acme}:1.4.2..2.0.1")
    command = target.command(BROKER, installation)
    assert (target.version, command.argv, command.version) == ("1.4.2..2.0.1", ["acme-1.4.2"], "1.4.2")
    upgraded = replace(BROKER, release="new")
    assert target.command(upgraded, installation).version == "2.0.1"
    assert target.properties(upgraded, installation)["v"] == "2.0.1"


def test_an_upgraded_node_speaks_the_old_protocol_until_its_level_is_raised(
    acme: str, installation: Installation
) -> None:
    target = load(f"{acme}:1.4.2..2.0.1")
    wires = [
        target.properties(node, installation)["wire"]
        for node in (BROKER, replace(BROKER, release="new"), replace(BROKER, release="new", level="new"))
    ]
    assert wires == ["1.4", "1.4", "2.0"]


def test_differences_of_either_release_are_listed_and_claimed_are_those_of_the_old_one(acme: str) -> None:
    assert [each.id for each in load_file(f"{acme}:1.4..2.0").differences] == ["AC-01", "AC-02"]
    facts = TargetFacts.of(f"{acme}:1.4..2.0")
    assert facts.releases == ("1.4", "2.0")
    assert (facts.differs("AC-01"), facts.differs("AC-02")) == (True, False)
    assert not {"old", "new"} & set(facts.levels)


def test_zookeeper_s_brokers_start_at_the_protocol_of_the_old_release(installation: Installation) -> None:
    target = load("apache-kafka-zk:2.8.2..3.9.1")
    versions = [
        target.properties(replace(BROKER, level=level), installation)["inter.broker.protocol.version"]
        for level in (None, "old", "new", "base")
    ]
    assert versions == ["2.8", "2.8", "3.9", "2.6"]


@pytest.mark.parametrize("name", ["quorum", "zk-controller", "leader-driven"])
def test_a_target_of_one_release_cannot_be_upgraded(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} has one release, 1, so there is no upgrade 1..2"):
        load(f"{name}:1..2")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("3.9.1..", "'' is not a version"),
        ("1.0..3.9.1", "has no release '1.0'"),
        ("3.9.1..3.9.1", "names the release 3.9.1 twice"),
    ],
)
def test_both_releases_have_to_exist(version: str, message: str) -> None:
    with pytest.raises((UsageError, InfrastructureError), match=message):
        load(f"apache-kafka:{version}")


def test_a_pattern_that_does_not_say_the_release_is_refused(acme: str) -> None:
    file = Path(acme)
    file.write_text(file.read_text().replace("(\\S+)", "\\S+"))
    with pytest.raises(YamlFileError, match=r"`says` at .*: Input should have one group for the release"):
        load_file(acme)


def _plan(target: str, *steps: Step) -> Plan:
    nodes = (
        NodeSpec(name="zk-1", id=1, index=1, roles=("zookeeper",)),
        NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),
    )
    topology = Topology(nodes=nodes)
    return Plan(scenario="s", title="S", document="d", seed=1, target=target, topology=topology, steps=steps)


def test_a_plan_names_a_release_only_of_a_target_that_has_two() -> None:
    steps = (Roll(node="node-4", release="new"), RunsRelease(node="node-4", release="old", within_ms=1))
    assert problems(_plan("apache-kafka-zk:2.8.2..3.9.1", *steps)) == []
    assert [problem.message for problem in problems(_plan("zk-controller:1", *steps))] == [
        f"`release: {release}` needs a target with two releases, but zk-controller:1 has one: "
        "name both, as in `apache-kafka:3.9.2..4.4.0`"
        for release in ("new", "old")
    ]


def test_zookeeper_servers_are_not_upgraded() -> None:
    found = problems(_plan("apache-kafka-zk:2.8.2..3.9.1", Roll(node="zk-1", release="new")))
    assert [problem.message for problem in found] == [
        "zk-1 is a ZooKeeper server: only brokers and controllers are upgraded"
    ]


def test_features_are_finalized_only_where_they_exist() -> None:
    with pytest.raises(UsageError, match="finalizes a feature of KRaft, which apache-kafka-zk does not have"):
        check_design(load_file("apache-kafka-zk"), _plan("apache-kafka-zk", UpdateFeaturesProbe(node="node-4")))


def test_an_upgrade_of_a_target_with_one_release_says_how_two_are_named() -> None:
    with pytest.raises(UsageError, match=r"rolling-upgrade needs a target with two releases, such as apache-kafka:3"):
        plan_of("rolling-upgrade", "apache-kafka", 1)
