"""Probes in the background end with the run."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from kio.schema.errors import ErrorCode

from fencepost.harness.engine.context import Clients
from fencepost.harness.engine.probes import prober as prober_module
from fencepost.harness.engine.probes.prober import Prober
from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome
from fencepost.harness.plan.base import ExpectOutcome, Level
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.metrics import MetricsProbe
from fencepost.harness.wire.no_answer import Closed, NoAnswer, NotReached, Refused
from fencepost.results.records.journal import read_journal
from tests.harness.engine.still_context import PLAN, healthy, still_context


def test_a_probe_that_is_not_over_in_the_time_of_the_run_is_no_failure_of_the_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = still_context(tmp_path, healthy())
    context.clock.deadline = 0.0
    monkeypatch.setattr(Prober, "_ask", lambda *_, **__: None)
    with Prober(context) as prober:
        prober.run(MetricsProbe(node="node-4", equal={"lag": 3}, repeat=2, background=True), "lag")
    context.journal.close()
    [note] = read_journal(tmp_path / "journal.jsonl").of("note")
    assert note.data["what"] == "overrun"
    assert note.data["message"].startswith("in the probe lag: the run was not over after")


@pytest.mark.parametrize(
    ("level", "outcomes", "journalled"),
    [
        (Level.MUST, ["refused", "served"], ["awaited", "served"]),
        (Level.NEVER, ["served", "refused"], ["served"]),
        (Level.NEVER, ["refused"], ["refused"]),
    ],
)
def test_an_answer_that_must_never_be_is_not_waited_out(
    level: Level, outcomes: list[str], journalled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = still_context(tmp_path, healthy())
    answers = iter(outcomes)
    monkeypatch.setattr(Prober, "_answer", lambda *_: ProbeAnswer(ProbeOutcome(next(answers))))
    expect = ExpectOutcome(level=level, outcome="served", requirement="ADM-02")
    with Prober(context) as prober:
        prober.run(ApiProbe(node="node-4", api="metadata", within_ms=60_000, expect=expect), "ask")
    context.journal.close()
    ends = read_journal(tmp_path / "journal.jsonl").of("op", "ok", "fail", "info")
    assert [event.data["outcome"] for event in ends] == journalled


@pytest.mark.parametrize(
    ("met", "runs_on", "phase", "outcome"),
    [
        (NotReached("no connection"), True, "fail", "refused"),
        (NotReached("no connection"), False, "info", "absent"),
        (Closed("ended"), True, "fail", "refused"),
        (Closed("ended"), False, "info", "unanswered"),
        (Refused("no login"), True, "fail", "refused"),
    ],
)
def test_a_node_that_runs_on_has_refused_what_it_ends_or_lets_not_in(
    met: NoAnswer, runs_on: bool, phase: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = still_context(tmp_path, healthy())

    def ask(probe: MetricsProbe, run: object) -> ProbeAnswer:
        if not runs_on:
            context.cluster.processes.kill("node-4")
        raise met

    monkeypatch.setattr(MetricsProbe, "ask", ask)
    with Prober(context) as prober:
        prober.run(MetricsProbe(node="node-4"), "ask")
    context.journal.close()
    [end] = read_journal(tmp_path / "journal.jsonl").of("op", "ok", "fail", "info")
    assert (end.phase, end.data["outcome"]) == (phase, outcome)


def test_a_secured_node_that_was_not_reached_has_refused_no_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = still_context(tmp_path, healthy(), plan=PLAN.model_copy(update={"security": "tls-scram"}))

    def ask(probe: MetricsProbe, run: object) -> ProbeAnswer:
        raise NotReached("no connection")

    monkeypatch.setattr(MetricsProbe, "ask", ask)
    with Prober(context) as prober:
        prober.run(MetricsProbe(node="node-4"), "ask")
    context.journal.close()
    [end] = read_journal(tmp_path / "journal.jsonl").of("op", "ok", "fail", "info")
    assert (end.phase, end.data["outcome"]) == ("info", "absent")


@pytest.mark.parametrize(("redirects", "asked"), [(True, ["node-4", "node-5"]), (False, ["node-4"])])
def test_where_the_target_redirects_the_controller_that_a_broker_names_is_asked_next(
    redirects: bool, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = still_context(tmp_path, healthy())
    context.references.redirects = redirects
    answers = {
        "node-4": ProbeAnswer(ProbeOutcome.REFUSED, ErrorCode.not_controller.value),
        "node-5": ProbeAnswer(ProbeOutcome.SERVED),
    }
    seen: list[str] = []

    def answer(_: Prober, probe: object, name: str, node: str, number: int) -> ProbeAnswer:
        seen.append(node)
        return answers[node]

    monkeypatch.setattr(Prober, "_answer", answer)
    monkeypatch.setattr(Clients, "connect", lambda *_, **__: nullcontext())
    monkeypatch.setattr(prober_module, "ask_controller", lambda _: 5)
    with Prober(context) as prober:
        prober.run(ApiProbe(node="node-4", api="create_topics"), "ask")
    context.journal.close()
    assert seen == asked
