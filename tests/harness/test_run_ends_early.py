"""A run that is to end early ends once a claim is broken, with the verdict and the rule of the whole run."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.engine.run import run
from fencepost.harness.plan.base import Expect, ExpectOutcome, KnownBug, Level
from fencepost.harness.plan.conditions.broker_active import BrokerActive
from fencepost.harness.plan.conditions.broker_fenced import BrokerFenced
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.requests.heartbeat import HeartbeatProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.workload import Workload
from fencepost.results.records.events import ENDED_EARLY
from fencepost.results.records.journal import read_journal
from fencepost.results.records.requirements import RequirementState
from fencepost.results.records.verdict import Verdict
from tests.harness.test_run import outcomes, plan_of

pytestmark = pytest.mark.integration

BEGIN = (
    Workload(action="start"),
    WorkloadAcks(more=20, within_ms=5000),
    inject("pause", PauseParameters(nodes="node-5")),
)
LATER = BrokerFenced(
    as_="later", node="node-4", within_ms=2000, expect=Expect(level=Level.NEVER, requirement="K631-20")
)


def stale(outcome: str, bug: KnownBug | None = None) -> Step:
    """A heartbeat with a stale epoch, which gets error 77, and a claim about it."""
    expect = ExpectOutcome(level=Level.MUST, outcome=outcome, requirement="K631-30", known_bug=bug)
    return HeartbeatProbe(as_="stale", node="active-controller", broker="node-5", broker_epoch="stale", expect=expect)


@pytest.mark.parametrize("end_early", [True, False])
def test_an_answer_against_its_claim_ends_the_run_only_if_it_is_to_end_early(tmp_path: Path, end_early: bool) -> None:
    folder, verdict = run(plan_of(*BEGIN, stale("served"), LATER), tmp_path, end_early=end_early)
    assert verdict.verdict is Verdict.VIOLATION
    assert [each.requirement for each in verdict.of(Verdict.VIOLATION)] == ["K631-30"]
    assert ("later" in outcomes(folder)) is not end_early
    state = RequirementState.NOT_EXERCISED if end_early else RequirementState.HELD
    judged = verdict.requirement("K631-20")
    assert judged is not None and judged.state is state
    journal = read_journal(folder.journal)
    assert [each.id for each in journal.of("fault", "healed")] == ["pause"]
    assert any(event.data.get("f") == "final" for event in journal.of("op", "ok"))


def test_a_condition_that_comes_and_must_never_ends_the_run_with_the_same_rule(tmp_path: Path) -> None:
    never = Expect(level=Level.NEVER, requirement="K631-20")
    active = BrokerActive(as_="active", node="node-4", within_ms=5000, expect=never)
    folder, verdict = run(plan_of(*BEGIN[:2], active, LATER), tmp_path, end_early=True)
    assert [each.requirement for each in verdict.of(Verdict.VIOLATION)] == ["K631-20"]
    (note,) = (each for each in read_journal(folder.journal).of("note") if each.data.get("what") == ENDED_EARLY)
    assert (note.data["step"], note.data["untried"]) == ("active", ["later"])


def test_an_answer_that_shows_a_known_bug_ends_nothing(tmp_path: Path) -> None:
    bug = KnownBug(id="KAFKA-1", outcome="error:77")
    folder, verdict = run(plan_of(*BEGIN, stale("served", bug), LATER), tmp_path, end_early=True)
    assert verdict.verdict is Verdict.PASS, verdict.findings
    assert outcomes(folder)["later"] == "missed"
