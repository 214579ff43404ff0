"""An answer that will not change ends the wait for a cluster at once; one that may change is asked for again."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.run import check
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.targets.registry import VARIABLE, load, load_file
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter

CONTROLLER = NodeSpec(name="node-1", id=1, index=1, roles=("controller",))
BROKER = NodeSpec(name="node-4", id=4, index=4, roles=("broker",))
PROGRAM = Path(__file__).with_name("small_broker.py")
TARGET = """\
name: small
title: a broker that lists what it was given
version: "1"
dialect: {dialect}
capabilities: [links, kill]
clusters_per_core: 1
process:
  command: [{python}, {program}, "{{{{ address }}}}", "[9090, 9092]", {form}, '{lists}']
  names: program
  ready: {{broker: metadata, controller: port}}
timing: {{heartbeat_ms: [], lease_ms: [], session_ms: [], fence_ms: [], lag_ms: [], preferred_ms: [], election_ms: [],
         fetch_ms: [], request_ms: []}}
"""
OTHER = [111, "{{ address }}", 9092]
OWN = [4, "{{ address }}", 9092]


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))


def _plan(folder: Path, *nodes: NodeSpec, form: str = "v0", lists: object = (), dialect: str = "kraft") -> Plan:
    path = folder / "small.yaml"
    given = {"python": sys.executable, "program": PROGRAM, "form": form, "lists": json.dumps(lists)}
    path.write_text(TARGET.format(dialect=dialect, **given))
    load_file(str(path))
    topology = Topology(nodes=nodes)
    return Plan(scenario="s", title="s", document="d", seed=1, target="small", topology=topology)


def _start(plan: Plan, folder: Path) -> None:
    run = RunFolder.create_at(folder / "run")
    with closing(JournalWriter(run.journal)) as journal, Cluster(plan, run, journal, load(plan.target)) as cluster:
        cluster.start([node.name for node in plan.topology.nodes])


@pytest.mark.integration
def test_a_broker_that_lists_another_id_ends_the_wait_with_what_it_lists(tmp_path: Path) -> None:
    plan = _plan(tmp_path, CONTROLLER, BROKER, lists=[[OTHER]])
    with pytest.raises(InfrastructureError, match=r"it lists 111 at 127\.\d+\.0\.4:9092; the plan's id is 4") as ended:
        _start(plan, tmp_path)
    assert "serve after" not in str(ended.value)


@pytest.mark.integration
def test_a_broker_that_lists_nothing_yet_or_only_its_peers_is_asked_again(tmp_path: Path) -> None:
    peer = BROKER.model_copy(update={"name": "node-5", "id": 5, "index": 5})
    other = [5, "{{ address }}", 9092]
    _start(_plan(tmp_path, CONTROLLER, BROKER, peer, lists=[[], [other], [OWN, other]]), tmp_path)


@pytest.mark.integration
def test_an_answer_in_the_form_of_another_version_ends_the_wait(tmp_path: Path) -> None:
    plan = _plan(tmp_path, CONTROLLER, BROKER, form="v4", lists=[[OWN]])
    with pytest.raises(InfrastructureError, match=r"127\.\d+\.0\.4:9092 answered what is no ApiVersionsResponse") as it:
        _start(plan, tmp_path)
    assert "serve after" not in str(it.value)


@pytest.mark.parametrize(("dialect", "role"), [("kraft", "controller"), ("leader-driven", "zookeeper")])
def test_a_plan_without_a_role_that_the_dialect_needs_is_refused_before_anything_starts(
    dialect: str, role: str, tmp_path: Path
) -> None:
    plan = _plan(tmp_path, BROKER, dialect=dialect)
    with pytest.raises(UsageError, match=rf"no {role}, and no cluster of small .*give a node `roles: \[{role}\]`"):
        check(plan, tmp_path / "runs", "process")
    assert not (tmp_path / "runs").exists()
