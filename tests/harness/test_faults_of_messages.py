"""One message of a real cluster is lost, late or repeated: the proof is counted, and every promise is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fencepost.harness.cli.main import app
from fencepost.harness.network.server import without_messages
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal

pytestmark = pytest.mark.integration

PLAN = """\
format: fencepost-plan/2
scenario: one-message
title: One message between a leader and its controller
document: none
seed: 1
target: quorum
timing: {{lease_ms: 4000, lag_ms: 2000}}
topology:
  nodes:
  - {{name: node-1, id: 1, index: 1, roles: [controller]}}
  - {{name: node-4, id: 4, index: 4, roles: [broker]}}
  - {{name: node-5, id: 5, index: 5, roles: [broker]}}
  - {{name: node-6, id: 6, index: 6, roles: [broker]}}
topics:
- {{name: t, assignments: [[4, 5, 6]]}}
workload:
  producers: [{{name: p1, topic: t}}]
  consumers: [{{name: c1, topic: t}}]
steps:
- {{do: workload, as: work, action: start}}
- {{do: await, as: working, condition: workload-acks, more: 20, within_ms: 20000}}
- {{do: inject, as: behind, fault: cut, from: node-5, to: node-4}}
- {{do: inject, as: one, fault: {fault}, from: node-4, to: node-1, api: alter_partition, within_ms: 60000}}
- {{do: await, as: shrunk, condition: isr, partition: t-0, lacks: node-5, within_ms: 60000}}
- {{do: heal, as: let-go, fault: one}}
- {{do: heal, as: near, fault: behind}}
- {{do: await, as: whole, condition: converged, within_ms: 60000}}
- {{do: workload, as: rest, action: stop}}
coverage:
- {{that: proven, fault: one}}
"""


@pytest.mark.parametrize(
    ("fault", "counted"),
    [
        ("lost-answer", {"lost": 1}),
        ("lost-answer, connection: ended", {"lost": 1}),
        ("lost-request, connection: ended", {"lost": 1}),
        ("late-request, held_ms: 1500", {"held": 1, "delivered": 1}),
        ("repeated-request", {"repeated": 1, "dropped": 1}),
    ],
)
def test_a_cluster_survives_the_fate_of_one_alter_partition(
    fault: str, counted: dict[str, int], tmp_path: Path
) -> None:
    if reason := without_messages():
        pytest.skip(reason)
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN.format(fault=fault))
    result = CliRunner().invoke(app, ["run", str(file), "--runs", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
    (run,) = (path.parent for path in (tmp_path / "runs").rglob("journal.jsonl"))
    events = {
        event.phase: event.data for event in read_journal(RunFolder(run).journal).of("fault") if event.id == "one"
    }
    assert events["proven"]["measured"]["node-4 to node-1"]["active"]
    counts: dict[str, Any] = events["healed"]["measured"]["node-4 to node-1"]
    assert {name: counts[name] for name in counted} == counted
    assert (counts["active"], counts["broken"], counts["unread"]) == (False, 0, 0)


FATES = """\
format: fencepost-plan/2
scenario: one-message-of-each-fate
title: One message after the other is lost, late, or repeated
document: none
seed: 1
target: {target}
timing: {{lease_ms: 4000, session_ms: 4000, fence_ms: 6000, lag_ms: 4000}}
topology:
  nodes:
  - {{name: zk-1, id: 9, index: 9, roles: [zookeeper]}}
  - {{name: node-4, id: 4, index: 4, roles: [broker]}}
  - {{name: node-5, id: 5, index: 5, roles: [broker]}}
  - {{name: node-6, id: 6, index: 6, roles: [broker]}}
topics:
- {{name: t, assignments: [[4, 5, 6]]}}
workload:
  producers: [{{name: p1, topic: t}}]
  consumers: [{{name: c1, topic: t}}]
steps:
- {{do: workload, as: work, action: start}}
- {{do: await, as: working, condition: workload-acks, more: 20, within_ms: 20000}}
{fates}
- {{do: workload, as: rest, action: stop}}
coverage:
- {{that: proven, fault: lost-request}}
- {{that: proven, fault: lost-answer}}
- {{that: proven, fault: late-request}}
- {{that: proven, fault: repeated-request}}
"""
FATE = """\
- {{do: inject, as: {fault}, fault: {fault}, {more}from: '{from_}', to: node-4, api: {api}, within_ms: 60000}}
- {{do: heal, as: heal-{fault}, fault: {fault}}}
- {{do: await, as: whole-{fault}, condition: converged, within_ms: 60000}}
"""


@pytest.mark.parametrize("target", ["zk-controller", "leader-driven"])
def test_a_cluster_with_zookeeper_survives_each_fate(target: str, tmp_path: Path) -> None:
    if reason := without_messages():
        pytest.skip(reason)
    fetch, produce = {"from_": "node-5", "api": "fetch"}, {"from_": "site:main", "api": "produce"}
    fates = (
        FATE.format(fault="lost-request", more="connection: ended, ", **fetch),
        FATE.format(fault="lost-answer", more="connection: ended, ", **produce),
        FATE.format(fault="late-request", more="held_ms: 1500, ", **fetch),
        FATE.format(fault="repeated-request", more="", **fetch),
    )
    file = tmp_path / "plan.yaml"
    file.write_text(FATES.format(target=target, fates="".join(fates).rstrip()))
    result = CliRunner().invoke(app, ["run", str(file), "--runs", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
