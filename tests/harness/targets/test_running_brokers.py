"""Each command of the owner of a secured cluster of three brokers, proven from outside and undone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka.admin import AdminClient
from typer.testing import CliRunner

from fencepost.harness.cli.main import app
from fencepost.harness.engine.run import run
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.file import dump_plan
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.processes.resources import RESOURCES, read_resources
from fencepost.harness.targets.consent import FLAG, VARIABLE
from fencepost.harness.targets.registry import VARIABLE as REGISTERED
from fencepost.harness.targets.registry import load_file
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict
from fencepost.suites.scenarios import SCENARIOS
from fencepost.suites.target_facts import TargetFacts
from tests.harness.targets.running_brokers import CLUSTER, FRONTS, IDS, PASSWORD, USER, running, topics
from tests.waiting import eventually

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ours")


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[AdminClient]:
    with running(folder) as admin:
        yield admin


@pytest.fixture(autouse=True)
def consent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, CLUSTER)
    monkeypatch.setenv("OUR_PASSWORD", PASSWORD)


@pytest.mark.parametrize(
    ("slug", "target", "how"),
    [
        ("any-stop", "ours", "its port: "),
        ("any-cut-off", "ours", "round trips from outside"),
        ("any-kill", "vanishes", "-t-0, which it led: "),
    ],
)
def test_each_command_is_proven_over_a_secured_connection_and_undone(
    slug: str, target: str, how: str, folder: Path, cluster: AdminClient, tmp_path: Path
) -> None:
    [scenario] = [each for each in SCENARIOS if each.slug == slug]
    facts = TargetFacts.of(str(folder / f"{target}.yaml"))
    assert scenario.unavailable_reason(facts) is None
    found, verdict = run(scenario.plan(facts, 1), tmp_path)
    assert verdict.verdict is Verdict.PASS, verdict.headline
    [proven] = [event for event in read_journal(found.journal).events if event.phase == "proven"]
    assert how in proven.data["how"]
    assert '"kind": "command"' in (found.path / RESOURCES).read_text()
    assert not read_resources(found.path), "it was undone"
    assert topics(cluster) == {"theirs"}


def test_a_broker_that_leads_nothing_is_gone_once_another_lists_it_no_more(
    folder: Path, cluster: AdminClient, tmp_path: Path
) -> None:
    plan = _plan("any-kill", str(folder / "vanishes.yaml"))
    follower = plan.topics[0].assignments[0][-1]
    [name] = [node.name for node in plan.topology.nodes if node.id == follower]
    found, verdict = run(_with_fault(plan, {"nodes": name}), tmp_path)
    assert verdict.verdict is Verdict.PASS, verdict.headline
    [proven] = [event for event in read_journal(found.journal).events if event.phase == "proven"]
    assert proven.data["how"].endswith("Metadata of another broker: it is listed no more")
    assert topics(cluster) == {"theirs"}


@pytest.mark.parametrize("slug", ["any-kill", "any-cut-off"])
def test_an_interrupt_heals_what_was_broken_and_leaves_nothing(
    slug: str, folder: Path, cluster: AdminClient, tmp_path: Path
) -> None:
    plan = _plan(slug, str(folder / "ours.yaml"))
    [place] = [place for place, step in enumerate(plan.steps) if isinstance(step, InjectStep)]
    hold = Hold(after=f"{plan.step_name(place)}.proven", ms=600_000)
    held = plan.model_copy(update={"steps": (*plan.steps[: place + 1], hold, *plan.steps[place + 1 :])})
    (tmp_path / "plan.yaml").write_text(dump_plan(held))
    command = [sys.executable, "-m", "fencepost.harness.cli", "run", str(tmp_path / "plan.yaml")]
    argv = [*command, "--target", str(folder / "ours.yaml"), "--runs", str(tmp_path), FLAG, CLUSTER]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    with subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL) as running_plan:
        eventually(lambda: any('"proven"' in path.read_text() for path in tmp_path.glob("*/journal.jsonl")), within=120)
        assert len(_broken(folder)) == 1
        running_plan.send_signal(signal.SIGINT)
        assert running_plan.wait(120) == Verdict.INFRASTRUCTURE.exit_code
    assert _broken(folder) == []
    [made] = tmp_path.glob("*/journal.jsonl")
    assert not read_resources(made.parent)
    assert topics(cluster) == {"theirs"}


def test_a_secured_cluster_alone_gives_its_target_file(
    folder: Path, cluster: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REGISTERED, "")
    to = folder / "found.yaml"
    security = (
        f"{{protocol: SASL_SSL, mechanism: SCRAM-SHA-512, user: {USER}, password_from: OUR_PASSWORD, ca: ca.pem}}"
    )
    asked = ["target", "init", "--bootstrap", f"{FRONTS[111]}:9092", "--security", security, "--to", str(to)]
    with pytest.raises(UsageError, match="nothing is sent to it unless it is yours"):
        CliRunner().invoke(app, asked, catch_exceptions=False)
    assert not to.exists()
    done = CliRunner().invoke(app, [*asked, FLAG, CLUSTER])
    assert done.exit_code == 0, done.output
    file = load_file(str(to))
    assert file.brokers.ids == IDS
    assert file.running is not None
    assert file.running.security.user == USER
    assert PASSWORD not in to.read_text()
    assert "groups" in file.workloads
    assert topics(cluster) == {"theirs"}


def _plan(slug: str, target: str) -> Plan:
    return next(each for each in SCENARIOS if each.slug == slug).plan(TargetFacts.of(target), 1)


def _with_fault(plan: Plan, changes: dict[str, object]) -> Plan:
    """Return the plan with another aim of its fault."""
    steps = (step.model_copy(update=changes) if isinstance(step, InjectStep) else step for step in plan.steps)
    return plan.model_copy(update={"steps": tuple(steps)})


def _broken(folder: Path) -> list[str]:
    """Return the processes of the cluster that do not run, or stand still."""
    pids = {file.name: int(file.read_text()) for file in [*folder.glob("*.broker"), *folder.glob("*.forwarder")]}
    dead = (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)
    return [name for name, pid in pids.items() if not psutil.pid_exists(pid) or psutil.Process(pid).status() in dead]
