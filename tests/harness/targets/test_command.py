"""The driver `command`: templates of a target file become the files and the command line of any program."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.harness.backends.docker.commands import contained
from fencepost.harness.backends.process import ProcessBackend
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import LAST_K, Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.plan.model import Timing
from fencepost.harness.processes.command import Command, no_name_tables
from fencepost.harness.targets import quorum
from fencepost.harness.targets.command import CommandDriver
from fencepost.harness.targets.registry import VARIABLE, load
from fencepost.harness.targets.target import Installation, Target, write_configuration
from fencepost.harness.yaml_file import YamlFileError
from tests.harness.targets.test_registry import ACME

BY_COMMAND = Path(__file__).with_name("quorum-by-command.yaml")
ADDRESSES = Addresses(LAST_K + 1)
"""Addresses that no running cluster has."""
PROCESS = """\
process:
  command: [bin/acme, --id, "{{ id }}", "{{ home }}/acme.toml"]
  environment: {LEASE: "{{ timing.lease_ms }}", DEBUG: true}
  files:
    acme.toml: |
      {% include "acme.toml.j2" %}
  format: [["{{ folder }}/bin/format", "{{ data }}"]]
  ready: {broker: port, controller: {says: elected}}
"""
INCLUDED = """\
{% for peer in controllers %}peer = {{ peer.id }}@{{ peer.address }}:{{ peer_port }}
{% endfor %}{% for key, value in settings.items() %}{{ key }} = {{ value }}
{% endfor %}"""


def _node(name: str, id: int, *roles: Role) -> Node:
    return Node(name, id, id, frozenset(roles), ADDRESSES.node(id))


CONTROLLER, BROKER = _node("node-1", 1, Role.CONTROLLER), _node("node-4", 4, Role.BROKER)


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    nodes = (CONTROLLER, _node("node-2", 2, Role.CONTROLLER), BROKER)
    return Installation(
        Layout(ADDRESSES, nodes, site_names([])), Timing(lease_ms=1234), "c", tmp_path / "run" / "nodes"
    )


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, "")
    (tmp_path / "bin").mkdir()
    (tmp_path / "acme.toml.j2").write_text(INCLUDED)
    (tmp_path / "bin" / "format").write_text('#!/bin/sh\ntouch "$1/formatted"\n')
    (tmp_path / "bin" / "format").chmod(0o755)
    path = tmp_path / "acme.yaml"
    path.write_text(ACME.replace("driver: fencepost.harness.targets.quorum:Quorum\n", PROCESS))
    return path


def _load(path: Path) -> CommandDriver:
    loaded = load(str(path))
    assert isinstance(loaded, CommandDriver)
    return loaded


def test_the_command_line_is_rendered_for_each_node(acme: Path, installation: Installation) -> None:
    made = _load(acme).command(BROKER, installation)
    home = installation.nodes / "node-4"
    assert made.argv == [str(acme.parent / "bin/acme"), "--id", "4", f"{home}/acme.toml"]
    assert made.environment == {"LEASE": "1234", "DEBUG": "true"}
    assert made.hosts == home / "hosts"


def test_a_file_names_peers_by_the_addresses_of_the_links_to_them(acme: Path, installation: Installation) -> None:
    installation.home(BROKER).mkdir(parents=True)
    write_configuration(_load(acme), BROKER, installation)
    written = (installation.home(BROKER) / "acme.toml").read_text().splitlines()
    assert written[:2] == ["peer = 1@127.251.104.1:9090", "peer = 2@127.251.104.2:9090"]
    assert "registration.lease.timeout.ms = 1234" in written
    assert "replica.fetch.wait.max.ms = 200" in written


def test_format_runs_on_the_empty_directories(acme: Path, installation: Installation) -> None:
    installation.home(BROKER).mkdir(parents=True)
    _load(acme).format(BROKER, installation)
    assert (installation.data(BROKER) / "formatted").is_file()


def test_a_format_that_fails_ends_the_run_with_its_message(acme: Path, installation: Installation) -> None:
    installation.home(BROKER).mkdir(parents=True)
    (acme.parent / "bin" / "format").write_text("#!/bin/sh\necho no space >&2; exit 3\n")
    with pytest.raises(InfrastructureError, match=r"the command of `format` for node-4 ended with 3: .*\nno space"):
        _load(acme).format(BROKER, installation)


def test_prepare_runs_in_the_folder_of_the_target_file(acme: Path) -> None:
    acme.write_text(acme.read_text().replace("process:\n", "process:\n  prepare: [[touch, built], [rm, missing]]\n"))
    with pytest.raises(InfrastructureError, match="the command of `prepare` of acme ended with 1: rm missing"):
        _load(acme).prepare()
    assert (acme.parent / "built").is_file()


def test_roles_may_have_programs_of_their_own(acme: Path, installation: Installation) -> None:
    line = '  command: [bin/acme, --id, "{{ id }}", "{{ home }}/acme.toml"]\n'
    assert line in acme.read_text()
    acme.write_text(acme.read_text().replace(line, "  command: {controller: [metadata], broker: [broker]}\n"))
    driver = _load(acme)
    combined = replace(BROKER, roles=frozenset({Role.BROKER, Role.CONTROLLER}))
    nodes = (CONTROLLER, BROKER, combined)
    assert [driver.command(node, installation).argv for node in nodes] == [["metadata"], ["broker"], ["broker"]]


def test_a_program_of_brokers_alone_is_enough_where_no_node_is_only_a_controller(
    acme: Path, installation: Installation
) -> None:
    line = '  command: [bin/acme, --id, "{{ id }}", "{{ home }}/acme.toml"]\n'
    text = acme.read_text().replace(line, "  command: {broker: [broker]}\n")
    acme.write_text(text)
    with pytest.raises(YamlFileError) as refused:
        load(str(acme))
    assert str(refused.value).startswith(
        f"`command` at {acme}:4: it has no `controller`, and a cluster of `dialect: kip-"
    )
    assert "say `dialect: clients`" in str(refused.value)
    acme.write_text(text.replace("dialect: kip-631", "dialect: zookeeper"))
    assert _load(acme).command(BROKER, installation).argv == ["broker"]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("{{ id }}", "{{ idd }}", "`command` at {}:4: unknown variable `idd`; did you mean `id`?"),
        ("{{ id }}", "{{ id", "`command` at {}:4: no Jinja template (unexpected end of template"),
        ("environment:", "enviroment:", "unknown key `enviroment` at {}:5; did you mean `environment`?"),
        ("broker: port", "broker: prt", "`broker` at {}:10: Input should be 'metadata', 'api-versions' or 'port'"),
        (
            '[bin/acme, --id, "{{ id }}", "{{ home }}/acme.toml"]',
            "bin/acme",
            "write it as a list, one entry for each",
        ),
        ("process:", "driver: command\nproces:", "unknown key `proces` at {}:4; did you mean `process`?"),
        (PROCESS, "driver: command\n", "missing process: the driver `command` and the key `process` need each other"),
        (PROCESS, "", "missing process: the driver `command` and the key `process` need each other"),
        ("process:", "driver: quorum\nprocess:", "missing process: the driver `command` and the key `process` need"),
    ],
)
def test_a_mistake_in_a_template_is_reported_before_anything_starts(
    right: str, wrong: str, message: str, acme: Path
) -> None:
    assert right in acme.read_text()
    acme.write_text(acme.read_text().replace(right, wrong, 1))
    with pytest.raises(YamlFileError) as refused:
        load(str(acme))
    assert message.format(acme) in str(refused.value)


def test_readiness_by_the_log_needs_a_line_since_the_last_start(acme: Path, installation: Installation) -> None:
    driver, log = _load(acme), installation.nodes.parent / "logs" / "node-1.log"
    log.parent.mkdir(parents=True)
    log.write_text("elected\n")
    driver.command(CONTROLLER, installation)
    missing = "the log of node-1 has no line like 'elected' yet"
    assert driver.unready([CONTROLLER], installation) == missing
    with log.open("a") as file:
        file.write("node 1 is elected\n")
    assert driver.unready([CONTROLLER], installation) is None


def test_readiness_by_a_port_names_the_node_that_does_not_listen(acme: Path, installation: Installation) -> None:
    assert _load(acme).unready([BROKER], installation) == "node-4 does not listen at 127.251.0.4:9092"


def test_a_container_runs_the_named_image_with_the_same_command_line(acme: Path, installation: Installation) -> None:
    acme.write_text(acme.read_text().replace("process:\n", "process:\n  image: acme/broker:7\n"))
    inside = contained(_load(acme).command(BROKER, installation))
    assert inside.image.title == "acme/broker:7"
    assert inside.argv[:3] == ("bin/acme", "--id", "4")


def test_a_node_without_the_right_to_mount_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.harness.backends.process.no_name_tables", lambda: "Operation not permitted")
    backend = ProcessBackend(tmp_path / "records", tmp_path)
    with pytest.raises(InfrastructureError, match=r"Operation not permitted.*`names: program`"):
        backend.start("node-4", Command(["true"], hosts=tmp_path / "hosts"))


@pytest.mark.skipif(no_name_tables() is not None, reason=f"no name tables: {no_name_tables()}")
def test_a_process_sees_its_name_table_as_etc_hosts(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("127.251.104.1 node-1\n")
    argv = Command(["getent", "hosts", "node-1"], hosts=tmp_path / "hosts").argv_with_hosts
    read, write = os.pipe()
    pid = os.posix_spawnp(argv[0], list(argv), os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)])
    os.close(write)
    os.waitpid(pid, 0)
    assert os.read(read, 100).decode().split() == ["127.251.104.1", "node-1"]


@pytest.mark.parametrize("node", [CONTROLLER, BROKER])
def test_the_templates_of_the_reference_give_what_its_own_driver_gives(node: Node, installation: Installation) -> None:
    by_command, by_class = load(str(BY_COMMAND)), load("quorum")
    given = by_class.properties(node, installation)
    del given["hosts.file"]
    assert by_command.properties(node, installation) == given
    assert by_command.command(node, installation).argv == _argv(by_class, node, installation)


def _argv(target: Target, node: Node, installation: Installation) -> list[str]:
    argv = list(target.command(node, installation).argv)
    assert argv[:2] == [sys.executable, "-m"]
    assert isinstance(target, quorum.Quorum)
    return argv
