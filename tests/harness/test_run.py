"""A run ends in a folder that says what was done and what it proved, however it ended. On the reference cluster."""

from __future__ import annotations

import _thread
from collections.abc import Sequence
from pathlib import Path

import pytest

from fencepost.faults.links.cut import CutParameters
from fencepost.faults.processes.kill import KillParameters
from fencepost.harness.engine.run import RunInterrupt, run
from fencepost.harness.errors import UsageError
from fencepost.harness.judge import judge_folder
from fencepost.harness.plan.base import Expect, ExpectOutcome, Level
from fencepost.harness.plan.conditions.broker_active import BrokerActive
from fencepost.harness.plan.conditions.isr_is import IsrIs
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.file import PlanError, load_plan
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import (
    Acknowledged,
    ConsumerSpec,
    NodeSpec,
    Plan,
    ProducerSpec,
    TopicSpec,
    Topology,
    WorkloadSpec,
)
from fencepost.harness.plan.requests.heartbeat import HeartbeatProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.workload import Workload
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.journal import read_journal
from fencepost.results.records.progress import Phase
from fencepost.results.records.verdict import RunVerdict, Verdict

pytestmark = pytest.mark.integration


def plan_of(*steps: Step, **more: object) -> Plan:
    nodes = (
        NodeSpec(name="node-1", id=1, index=1, roles=("controller",)),
        NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),
        NodeSpec(name="node-5", id=5, index=5, roles=("broker",)),
    )
    usual: dict[str, object] = {
        "scenario": "a-run",
        "title": "A run",
        "document": "KIP-631",
        "seed": 1,
        "target": "quorum",
        "topology": Topology(nodes=nodes),
        "topics": (TopicSpec(name="t", assignments=((4, 5),)),),
        "workload": WorkloadSpec(
            producers=(ProducerSpec(name="p1", topic="t"),), consumers=(ConsumerSpec(name="c1", topic="t"),)
        ),
        "steps": steps,
    }
    return Plan.model_validate(usual | more)


def outcomes(folder: RunFolder) -> dict[str, str]:
    return {event.id: event.data["outcome"] for event in read_journal(folder.journal).of("step", "end")}


def of(verdict: RunVerdict, kind: Verdict) -> str:
    return " ".join(finding.message for finding in verdict.of(kind))


def test_a_scenario_is_run_judged_and_kept(tmp_path: Path) -> None:
    stale = ExpectOutcome(level=Level.MUST, outcome="error:77", requirement="K631-30")
    plan = plan_of(
        Workload(action="start"),
        WorkloadAcks(more=20, within_ms=5000),
        Bind(as_="old", node="leader:t-0"),
        inject("cut", CutParameters(from_="$old", to="controllers")),
        LeaderIs(
            partition="t-0", is_not="$old", within_ms=8000, expect=Expect(level=Level.MUST, requirement="K631-20")
        ),
        HeartbeatProbe(
            as_="stale",
            node="active-controller",
            broker="node-5",
            broker_epoch="stale",
            expect=stale,
            unchanged=("brokers", "t-0"),
        ),
        Heal(fault="cut"),
        IsrIs(as_="back", partition="t-0", is_="brokers", within_ms=8000),
        inject("dead", KillParameters(nodes="leader:t-0"), when=BrokerActive(node="$old", within_ms=8000), plus_ms=50),
        coverage=(Acknowledged(at_least=20),),
    )
    reported: list[tuple[Phase, str | None]] = []

    class Listener:
        def report(self, phase: Phase, *, step: str | None = None, proof: str | None = None) -> None:
            reported.append((phase, step))

    folder, verdict = run(plan, tmp_path, listener=Listener())
    assert verdict.verdict is Verdict.PASS, verdict.findings
    assert set(outcomes(folder).values()) == {"done"}
    assert reported[0] == (Phase.RUNNING, None)
    assert (Phase.STEP, "cut") in reported
    assert load_plan(folder.plan) == plan
    manifest = Manifest.load(folder.manifest)
    assert (manifest.target, manifest.planted_defect, list(manifest.programs)) == (
        "quorum",
        "",
        ["fencepost.cluster_impl"],
    )
    assert manifest.target_digest.startswith("sha256:")
    assert judge_folder(folder) == verdict
    assert folder.report.is_file()
    phases = [event.phase for event in read_journal(folder.journal).of("fault") if event.id == "dead"]
    assert phases == ["intent", "injected", "proven", "recovering", "healed"]
    (seen,) = [event for event in read_journal(folder.journal).of("note") if event.id == "when-dead"]
    assert seen.data["condition"] == "broker-active"


def test_a_scenario_that_breaks_off_is_inconclusive_and_still_read_to_the_end(tmp_path: Path) -> None:
    plan = plan_of(
        Workload(action="start"),
        WorkloadAcks(more=5, within_ms=5000),
        LeaderIs(as_="never", partition="t-0", is_="node-5", within_ms=50),
        inject("dead", KillParameters(nodes="node-4")),
    )
    folder, verdict = run(plan, tmp_path)
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert "At `never`: `leader` did not become true within 50 ms" in of(verdict, Verdict.INCONCLUSIVE)
    assert outcomes(folder)["never"] == "missed"
    assert "dead" not in outcomes(folder)
    assert any(finding.check == "unseen" and finding.verdict is Verdict.PASS for finding in verdict.findings)


def test_a_run_that_is_interrupted_says_so_and_leaves_nothing_running(tmp_path: Path) -> None:
    ran: list[int] = []

    class Interrupt:
        def report(self, phase: Phase, *, step: str | None = None, proof: str | None = None) -> None:
            if step == "wait":
                ran.extend(running(RunFolder(next(tmp_path.iterdir()))))
                _thread.interrupt_main()

    plan = plan_of(Workload(action="start"), LeaderIs(as_="wait", partition="t-0", is_="node-5", within_ms=30_000))
    with pytest.raises(RunInterrupt) as interrupted:
        run(plan, tmp_path, listener=Interrupt())
    folder, verdict = interrupted.value.folder, interrupted.value.verdict
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert verdict.headline == "the run was interrupted"
    assert read_journal(folder.journal).finished
    assert len(ran) == 4, "three nodes and Toxiproxy ran"
    assert not running(folder)


def test_a_run_that_is_interrupted_while_it_is_judged_still_has_its_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[RunFolder] = []

    def impatient(folder: RunFolder, plan: Plan) -> RunVerdict:
        asked.append(folder)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return judge_folder(folder)

    monkeypatch.setattr("fencepost.harness.engine.run._live", lambda *_: None)
    monkeypatch.setattr("fencepost.harness.engine.run.judge_folder", impatient)
    with pytest.raises(RunInterrupt) as interrupted:
        run(plan_of(), tmp_path)
    assert RunVerdict.load(interrupted.value.folder.verdict) == interrupted.value.verdict
    assert interrupted.value.folder.report.is_file()


def test_what_cannot_be_run_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"unknown node `node-9`; known: node-1, node-4, node-5 \(in steps.0.nodes\)"):
        run(plan_of(inject("dead", KillParameters(nodes="node-9"))), tmp_path)
    with pytest.raises(UsageError, match="there is no backend 'cloud'"):
        run(plan_of(), tmp_path, backend="cloud")
    assert not list(tmp_path.iterdir())


def running(folder: RunFolder) -> Sequence[int]:
    """Processes whose environment names this run."""
    mark = f"FENCEPOST_RUN={folder.path}".encode()
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
        except OSError:
            continue
    return found
