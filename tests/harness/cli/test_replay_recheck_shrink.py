"""Commands that make a failure again, or judge it again, as a user meets them; no cluster is started."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from fencepost.harness.cli import shrink
from fencepost.harness.cli.main import run_command
from fencepost.harness.engine.living import CHAIN, same_nodes, save_plans
from fencepost.harness.errors import UsageError
from fencepost.harness.judge import judge_folder
from fencepost.harness.plan import dump_plan
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.reproduction.replaying import Original
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

STEPS: list[dict[str, Any]] = [
    {"do": "inject", "as": f"kill-{number}", "fault": "kill", "nodes": "node-4"} for number in (1, 2, 3)
]


@dataclass
class Done:
    code: int
    out: str
    err: str


Fencepost = Callable[..., Done]
RunStandIn = Callable[..., tuple[RunFolder, RunVerdict]]


@pytest.fixture
def fencepost(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fencepost:
    monkeypatch.setenv("COLUMNS", "110")

    def run(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            run_command(arguments)
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return run


def run_of(path: Path, *, lost: bool = True) -> RunFolder:
    folder = RunFolder.create_at(path / "runs" / "2026-11-21-7f3c9a21")
    folder.plan.write_text(dump_plan(plan(steps=STEPS)))
    builder = JournalBuilder().event("run", "r", "begin").send("p-0", 0).send("p-1", 1)
    builder = builder.final((1, "p-1")) if lost else builder.final((0, "p-0"), (1, "p-1"))
    with JournalWriter(folder.journal) as journal:
        for event in builder.event("run", "r", "end").events:
            journal.write(event.type, event.id, event.phase, event.data, node=event.node)
    judge_folder(folder)
    return folder


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Plan]:
    """Runs lose a record if, and only if, their plan has the second kill."""
    ran: list[Plan] = []

    def run(
        made: Plan, runs: Path, backend: str = "process", listener: object = None, *, end_early: bool = False
    ) -> tuple[RunFolder, RunVerdict]:
        ran.append(made)
        folder = RunFolder.create_at(runs / f"run-{len(ran)}")
        fails = any(isinstance(step, InjectStep) and step.as_ == "kill-2" for step in made.steps)
        kind = Verdict.VIOLATION if fails else Verdict.PASS
        finding = Finding(kind, "lost-write", "Lost", "1 record is lost.", requirement="ACK-01")
        return folder, RunVerdict(kind, "1 record is lost.", made.scenario, made.target, "0", 1.0, 9, 0, (finding,))

    monkeypatch.setattr("fencepost.harness.cli.run.run_plan", run)
    monkeypatch.setattr("fencepost.harness.cli.shrink.run", run)
    return ran


@pytest.mark.parametrize("command", ["replay", "recheck", "shrink", "bundle"])
def test_every_command_s_help_has_an_example(fencepost: Fencepost, command: str) -> None:
    said = fencepost(command, "--help").out
    assert re.search(rf"Examples?\s+fencepost {command}", said), said


def test_a_recheck_ends_with_the_verdict_or_says_that_it_is_another(fencepost: Fencepost, tmp_path: Path) -> None:
    folder = run_of(tmp_path)
    same = fencepost("recheck", str(folder.path))
    assert same.code == 1
    assert "The verdict is the same as the stored one" in same.out
    RunVerdict(Verdict.PASS, "h", "tested", "quorum", "0", 1.0, 9, 0, ()).save(folder.verdict)
    other = fencepost("recheck", str(folder.path), "--json")
    assert other.code == 4
    assert json.loads(other.out)["then"]["verdict"] == "pass"


def test_a_recheck_of_nothing_is_a_message(fencepost: Fencepost, tmp_path: Path) -> None:
    folder = run_of(tmp_path)
    folder.journal.unlink()
    done = fencepost("recheck", str(folder.path))
    assert (done.code, done.err.count("\n")) == (64, 1)
    assert "has no journal.jsonl, so there is nothing to judge" in done.err


@pytest.mark.usefixtures("clusters")
def test_replays_say_k_of_n_and_end_as_the_worst(fencepost: Fencepost, tmp_path: Path) -> None:
    folder = run_of(tmp_path)
    done = fencepost("replay", str(folder.path), "--times", "4")
    assert done.code == 1
    assert "4 of 4 failed as before (95 % interval 51% to 100%): 4 violation" in done.out
    assert "ACK-01: broken in 4 of 4" in done.out
    assert (tmp_path / "runs" / "run-4").is_dir()


@pytest.mark.usefixtures("clusters")
def test_a_plan_file_alone_can_be_replayed_and_read_by_programs(fencepost: Fencepost, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(dump_plan(plan(steps=STEPS[:1])))
    done = fencepost("replay", str(file), "--times", "2", "--json", "--runs", str(tmp_path / "mine"))
    replayed = json.loads(done.out)
    assert (done.code, replayed["k"], replayed["n"], replayed["before"]) == (0, 0, 2, None)
    assert replayed["replay"] == f"fencepost replay {file}"


def test_a_plan_is_shrunk_to_the_fault_that_matters(fencepost: Fencepost, tmp_path: Path, clusters: list[Plan]) -> None:
    folder = run_of(tmp_path)
    done = fencepost("shrink", str(folder.path), "--times", "1")
    assert done.code == 0, done.err
    assert "2 of 3 faults: kill-1, kill-3" in done.out
    assert "kill-2 (kill)" in done.out
    assert "nothing more can be dropped" in done.out
    written = tmp_path / "runs" / "2026-11-21-7f3c9a21-shrunk.yaml"
    assert f"fencepost replay {written}" in done.out
    assert "kill-2" in written.read_text()
    left = list((tmp_path / "runs" / "2026-11-21-7f3c9a21-shrunk.runs").iterdir())
    assert 0 < len(left) < len(clusters), "only those that failed are kept"


@pytest.mark.usefixtures("clusters")
def test_what_did_not_fail_is_not_shrunk(fencepost: Fencepost, tmp_path: Path) -> None:
    done = fencepost("shrink", str(run_of(tmp_path, lost=False).path))
    assert done.code == 64
    assert "did not fail: there is nothing to shrink" in done.err


@pytest.mark.usefixtures("clusters")
def test_a_rule_that_was_not_broken_cannot_be_asked_for(fencepost: Fencepost, tmp_path: Path) -> None:
    done = fencepost("shrink", str(run_of(tmp_path).path), "--rule", "HW-03")
    assert "the run broke none of HW-03; it was violation ACK-" in done.err


def test_a_shrink_on_a_backend_that_there_is_not_is_refused(fencepost: Fencepost, tmp_path: Path) -> None:
    done = fencepost("shrink", str(run_of(tmp_path).path), "--backend", "podman")
    assert (done.code, done.err.count("\n")) == (64, 1)
    assert "there is no backend 'podman'" in done.err


@pytest.mark.parametrize("after", [1, 4])
def test_a_shrink_that_cannot_go_on_ends_with_the_smallest_so_far(
    fencepost: Fencepost, tmp_path: Path, clusters: list[Plan], monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    folder = run_of(tmp_path)
    run: RunStandIn = vars(shrink)["run"]

    def until_full(*given: Any, **named: Any) -> tuple[RunFolder, RunVerdict]:
        if len(clusters) == after:
            raise UsageError("only 1.0 MB are free")
        return run(*given, **named)

    monkeypatch.setattr("fencepost.harness.cli.shrink.run", until_full)
    done = fencepost("shrink", str(folder.path), "--times", "1")
    assert done.code == 0, done.err
    assert "only 1.0 MB are free" in done.out
    assert "ended before all was tried" in done.out
    assert "kill-2" in (tmp_path / "runs" / "2026-11-21-7f3c9a21-shrunk.yaml").read_text()


def test_a_chain_is_shrunk_to_the_plans_that_have_to_run_before(
    fencepost: Fencepost, tmp_path: Path, clusters: list[Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is lost only on a cluster that the plan of seed 2 has aged. What runs there has its nodes."""
    folder, run = run_of(tmp_path), vars(shrink)["run"]
    chain = tuple(plan(steps=STEPS, seed=seed) for seed in (1, 2, 3, 4))
    save_plans(folder.path / CHAIN, chain)
    ran_before: list[list[int]] = []
    passed: list[Path] = []

    def run_after(before: Sequence[Plan], made: Plan, *given: Any, **named: Any) -> tuple[RunFolder, RunVerdict]:
        ran_before.append([each.seed for each in before])
        assert not before or same_nodes(made, before[0])
        for each in before:
            folder_of_it = RunFolder.create_at(tmp_path / f"passed-{len(passed)}-{each.seed}")
            passed.append(folder_of_it.path)
            named["passed"](folder_of_it)
        named.pop("passed", None)
        without = plan(steps=STEPS[:1])
        return cast("tuple[RunFolder, RunVerdict]", run(made if 2 in ran_before[-1] else without, *given, **named))

    monkeypatch.setattr("fencepost.harness.cli.shrink.run_after", run_after)
    monkeypatch.setattr("fencepost.harness.cli.shrink.run", partial(run_after, ()))
    done = fencepost("shrink", str(folder.path), "--times", "1")
    assert done.code == 0, done.err
    assert "1 of 4 plans on the same cluster have to run" in done.out
    assert ran_before[0] == [1, 2, 3, 4]
    written = tmp_path / "runs" / "2026-11-21-7f3c9a21-shrunk.yaml"
    assert "kill-2" in written.read_text() and "kill-3" not in written.read_text()
    assert [each.seed for each in Original.read(written).chain] == [2]
    assert passed and not any(each.exists() for each in passed)


def test_a_plan_of_a_chain_that_fails_says_nothing_about_the_last(
    fencepost: Fencepost, tmp_path: Path, clusters: list[Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, run = run_of(tmp_path), vars(shrink)["run"]
    save_plans(folder.path / CHAIN, [plan(steps=STEPS, seed=1)])

    def run_after(before: Sequence[Plan], made: Plan, *given: Any, **named: Any) -> tuple[RunFolder, RunVerdict]:
        named.pop("passed")
        return cast("tuple[RunFolder, RunVerdict]", run(before[0], *given, **named))

    monkeypatch.setattr("fencepost.harness.cli.shrink.run_after", run_after)
    done = fencepost("shrink", str(folder.path), "--times", "1")
    assert (done.code, len(clusters)) == (3, 2)
    assert "The plan failed in 0 of 1 runs" in done.out
