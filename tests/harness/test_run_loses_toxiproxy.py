"""A run whose Toxiproxy dies, hangs or refuses is worth nothing, says why, ends soon, and leaves nothing."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from fencepost.faults.links.cut import CutParameters
from fencepost.faults.links.stall import StallParameters
from fencepost.harness.backends.local import TOXIPROXY
from fencepost.harness.engine.run import run
from fencepost.harness.network.server import find_toxiproxy
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.workload import Workload
from fencepost.harness.processes.records import living, read_records
from fencepost.results.records.journal import read_journal
from fencepost.results.records.progress import Phase
from fencepost.results.records.verdict import Verdict
from tests.harness.network import unavailable_toxiproxy
from tests.harness.network.unavailable_toxiproxy import BEHIND
from tests.harness.test_run import of, plan_of

pytestmark = pytest.mark.integration

AT_WORK = (Workload(action="start"), WorkloadAcks(more=20, within_ms=20_000))
CUT = inject("cut", CutParameters(from_="node-5", to="controllers"))
FOR_EVER = LeaderIs(as_="then", partition="t-0", is_="none", within_ms=600_000)
SOON = 90.0
"""Seconds, on a machine that many share; the deadline of the step that is broken off is 600."""


class Saboteur:
    """Sends a signal to the Toxiproxy of the run, by its pid in the run's records, once the step `then` begins."""

    def __init__(self, runs: Path, number: signal.Signals) -> None:
        self.runs = runs
        self.number = number
        self.hit: float | None = None

    @property
    def folder(self) -> Path:
        (folder,) = (path for path in self.runs.iterdir() if (path / "processes.jsonl").exists())
        return folder

    def report(self, phase: Phase, *, step: str | None = None, proof: str | None = None) -> None:
        if step == "then" and self.hit is None:
            (toxiproxy,) = (each for each in read_records(self.folder / "processes.jsonl") if each.node == TOXIPROXY)
            assert toxiproxy.identity is not None
            os.kill(toxiproxy.identity.pid, self.number)
            self.hit = time.monotonic()


def _outcome(steps: tuple[Step, ...], number: signal.Signals, runs: Path) -> tuple[str, set[str], float]:
    """Return the infrastructure messages, the steps that were done, and the seconds until the run was over."""
    saboteur = Saboteur(runs, number)
    folder, verdict = run(plan_of(*AT_WORK, *steps, deadline_ms=700_000), runs, listener=saboteur)
    assert saboteur.hit is not None
    took = time.monotonic() - saboteur.hit
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert living(read_records(folder.processes)) == []
    ended = read_journal(folder.journal).of("step", "end")
    return of(verdict, Verdict.INFRASTRUCTURE), {each.id for each in ended if each.data["outcome"] == "done"}, took


@pytest.mark.parametrize(
    ("steps", "number", "messages"),
    [
        ((CUT, FOR_EVER), signal.SIGKILL, ("toxiproxy ended with signal SIGKILL", "it is gone")),
        ((inject("then", StallParameters(from_="node-5", to="node-4")),), signal.SIGSTOP, ("or it hangs",)),
    ],
    ids=["dies while something is awaited", "hangs when it has to stall"],
)
def test_it_is_infrastructure_at_once_and_nothing_is_left(
    steps: tuple[Step, ...], number: signal.Signals, messages: tuple[str, ...], tmp_path: Path
) -> None:
    said, done, took = _outcome(steps, number, tmp_path)
    assert all(message in said for message in messages)
    assert "then" not in done
    assert took < SOON


def test_a_toxiproxy_that_says_503_in_the_middle_of_a_run_is_infrastructure_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BEHIND, str(find_toxiproxy()))
    monkeypatch.setenv("FENCEPOST_TOXIPROXY", str(Path(unavailable_toxiproxy.__file__)))
    cut, stall = (
        inject("cut", CutParameters(from_="node-5", to="controllers")),
        inject("stall", StallParameters(from_="node-5", to="node-4")),
    )
    folder, verdict = run(plan_of(*AT_WORK, cut, stall, FOR_EVER, deadline_ms=700_000), tmp_path)
    assert "answered 503 to POST" in of(verdict, Verdict.INFRASTRUCTURE)
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    ended = {each.id for each in read_journal(folder.journal).of("step", "end") if each.data["outcome"] == "done"}
    assert "cut" in ended, "what it does not refuse is done"
    assert "stall" not in ended
    assert living(read_records(folder.processes)) == []
