"""A cluster that a test starts by itself: the harness finds it, and leaves nothing there."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from typer.testing import CliRunner

from fencepost.harness.cli.elsewhere_report import doctor_elsewhere
from fencepost.harness.cli.main import app
from fencepost.harness.engine.run import check_plan, run
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.prefixed import names_in_requests, prefix_of, prefixed
from fencepost.harness.targets.consent import VARIABLE
from fencepost.harness.targets.elsewhere import Elsewhere
from fencepost.harness.targets.outside import refusal
from fencepost.harness.targets.registry import load_file
from fencepost.harness.yaml_file import YamlFileError
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict
from fencepost.suites.scenarios import SCENARIOS
from fencepost.suites.target_facts import TargetFacts

HOST = "127.9.7.3"
CLUSTER, ID = "5Ld1bGHBQNmE2g3xV0cAyw", 111
FILE = f"""\
name: ours
title: a cluster of ours
version: "1"
dialect: clients
brokers: {{ids: [{ID}]}}
promises: {{survives: kill}}
workloads: {{groups: null}}
timeout_factor: 4
running:
  bootstrap: ["{HOST}:9092"]
  commands:
    kill: ./signal KILL
    start: {sys.executable} start.py
    pause: ./signal STOP
    resume: ./signal CONT
"""
START = """\
import subprocess, sys
with open("log", "ab") as log:
    command = [sys.executable, "-m", "fencepost.cluster_impl", "node.properties"]
    broker = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
open("pid", "w").write(str(broker.pid))
"""
PREFIX = "fencepost-00000000-"


def _target(folder: Path, text: str = FILE) -> str:
    (folder / "ours.yaml").write_text(text)
    return str(folder / "ours.yaml")


def _plan(slug: str, target: str) -> Plan:
    return next(each for each in SCENARIOS if each.slug == slug).plan(TargetFacts.of(target), 1)


@pytest.fixture
def consent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, CLUSTER)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[AdminClient]:
    """Start a broker of the reference cluster that the harness knows nothing of; yield an administrator's client."""
    (tmp_path / "hosts").write_text(f"127.0.0.1 localhost\n{HOST} node-1\n")
    listeners = {"CONTROLLER": 9091, "INTERNAL": 9090, "CLIENT": 9092}
    properties = {
        "process.roles": "broker,controller",
        "cluster.id": CLUSTER,
        "controller.connect": "1@node-1:9091",
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in listeners),
        "listeners": ",".join(f"{name}://{HOST}:{port}" for name, port in listeners.items()),
        "controller.id": "1",
        "controller.listeners": "CONTROLLER",
        "broker.id": str(ID),
        "inter.broker.listener.name": "INTERNAL",
        "hosts.file": "hosts",
        "log.dirs": "data",
        "metadata.log.dir": "metadata",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
    }
    (tmp_path / "node.properties").write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    (tmp_path / "start.py").write_text(START)
    (tmp_path / "signal").write_text('#!/bin/sh\nexec kill "-$1" "$(cat pid)"\n')
    (tmp_path / "signal").chmod(0o755)
    subprocess.run([sys.executable, "start.py"], cwd=tmp_path, check=True)
    admin = AdminClient({"bootstrap.servers": f"{HOST}:9092", "log_level": 0})
    admin.create_topics([NewTopic("theirs", 1, 1)], request_timeout=60)["theirs"].result()
    yield admin
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def _topics(admin: AdminClient) -> set[str]:
    return {name for name in admin.list_topics(timeout=30).topics if not name.startswith("__")}


@pytest.mark.integration
@pytest.mark.usefixtures("consent")
@pytest.mark.parametrize(
    ("slug", "how"), [("any-kill", "the connection that was open ended"), ("any-pause", "got no answer")]
)
def test_a_fault_by_a_command_is_proven_and_nothing_of_the_run_is_left(
    slug: str, how: str, cluster: AdminClient, tmp_path: Path
) -> None:
    folder, verdict = run(_plan(slug, _target(tmp_path)), tmp_path)
    assert verdict.verdict is Verdict.PASS, verdict.headline
    [exits] = [finding for finding in verdict.findings if finding.check == "node-exits"]
    assert exits.evidence["judged"] == 0, "no process is seen"
    journal = read_journal(folder.journal)
    [proven] = [event for event in journal.events if (event.type, event.phase) == ("fault", "proven")]
    assert how in proven.data["how"]
    asked = [e.data["topic"] for e in journal.events if e.type == "op" and "topic" in e.data]
    assert asked
    assert all(topic.startswith("fencepost-") for topic in asked)
    assert _topics(cluster) == {"theirs"}


@pytest.mark.integration
@pytest.mark.usefixtures("consent")
def test_a_command_that_fails_is_undone_at_once_and_is_not_held_against_the_cluster(
    cluster: AdminClient, tmp_path: Path
) -> None:
    fails = FILE.replace("kill: ./signal KILL", "kill: sh -c './signal KILL; exit 3'")
    folder, verdict = run(_plan("any-kill", _target(tmp_path, fails)), tmp_path)
    assert verdict.verdict is Verdict.INCONCLUSIVE, verdict.headline
    assert "`kill` of node-111 ended with 3" in verdict.headline
    assert "start.py" in (folder.logs / "node-111.log").read_text()
    assert _topics(cluster) == {"theirs"}


@pytest.mark.integration
def test_another_cluster_than_the_owner_named_gets_no_further_request(
    cluster: AdminClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "another")
    _, verdict = run(_plan("any-kill", _target(tmp_path)), tmp_path)
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert f"is {CLUSTER}, and --i-own-this-cluster names another" in verdict.headline
    assert _topics(cluster) == {"theirs"}


@pytest.mark.integration
@pytest.mark.usefixtures("consent")
def test_the_doctor_asks_for_metadata_and_creates_nothing(
    cluster: AdminClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = _target(tmp_path)
    code = doctor_elsewhere(Elsewhere(load_file(target), "1"), target, as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert (code, report["cluster_id"], report["listed"]) == (0, CLUSTER, {str(ID): f"{HOST}:9092"})
    left = {each["scenario"]: each["unavailable_reason"] for each in report["scenarios"]}
    assert left["any-kill"] is None
    assert "cannot have the prefix" in left["any-names"]
    assert _topics(cluster) == {"theirs"}


def test_without_the_flag_the_doctor_sends_nothing(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as server:
        server.setblocking(False)
        target = _target(tmp_path, FILE.replace(":9092", f":{server.getsockname()[1]}"))
        asked = CliRunner().invoke(app, ["doctor", "--target", target])
        assert isinstance(asked.exception, UsageError)
        assert "--i-own-this-cluster ID" in str(asked.exception)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_without_the_flag_nothing_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with socket.create_server((HOST, 0)) as server:
        server.setblocking(False)
        plan = _plan("any-kill", _target(tmp_path, FILE.replace(":9092", f":{server.getsockname()[1]}")))
        with pytest.raises(UsageError, match="--i-own-this-cluster ID"):
            run(plan, tmp_path)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    ("slug", "reason"),
    [
        ("any-slow", "not capable of links"),
        ("any-stop", "not capable of terminate"),
        ("any-names", "cannot have the prefix"),
    ],
)
def test_what_is_not_possible_from_outside_is_skipped_with_its_reason(slug: str, reason: str, tmp_path: Path) -> None:
    facts = TargetFacts.of(_target(tmp_path))
    [scenario] = [each for each in SCENARIOS if each.slug == slug]
    assert reason in str(scenario.unavailable_reason(facts))


def test_a_plan_beyond_the_bounds_is_refused(tmp_path: Path) -> None:
    target = _target(tmp_path, FILE + "  bounds: {records_per_second: 50}\n")
    with pytest.raises(UsageError, match="asks for 200 records_per_second, and `running: bounds`"):
        check_plan(_plan("any-kill", target))


def test_each_name_in_a_plan_gets_the_prefix_and_nothing_else(tmp_path: Path) -> None:
    plan = _plan("any-commits", _target(tmp_path))
    own = prefixed(plan, PREFIX)
    assert prefix_of(own) == PREFIX
    assert own.groups == tuple(PREFIX + group for group in plan.groups)
    assert {name for _, name in names_in_requests(own)} == {PREFIX + name for _, name in names_in_requests(plan)}
    assert [step.do for step in own.steps] == [step.do for step in plan.steps]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("    stop: ./signal TERM\n", "missing start|nothing else undoes"),
        ("    cut: ./cut\n", "nothing else undoes `cut`"),
        ("    kill: ./x {{ pod }}\n", "unknown variable `pod`"),
        ("process: {command: [x]}\n", "`process` is for clusters that are started here"),
    ],
)
def test_a_mistake_in_the_key_is_named(line: str, message: str, tmp_path: Path) -> None:
    text = FILE if "kill" not in line else FILE.replace("    kill: ./signal KILL\n", "")
    text = text.replace(f"    start: {sys.executable} start.py\n", "") if "stop" in line else text
    with pytest.raises(YamlFileError, match=message):
        load_file(_target(tmp_path, text + line))


def test_a_request_about_something_else_than_a_topic_is_refused(tmp_path: Path) -> None:
    target = _target(tmp_path)
    file = load_file(target)
    assert file.running is not None
    plan = _plan("any-settings", target)
    assert refusal(plan, file.running) is None
    steps = [step.model_copy(update={"api": "create_acls"}) if hasattr(step, "api") else step for step in plan.steps]
    assert "may change what was there" in str(refusal(plan.model_copy(update={"steps": tuple(steps)}), file.running))
