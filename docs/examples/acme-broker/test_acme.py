"""The scenarios of Acme as tests, beside a test that has nothing to do with fencepost."""

from __future__ import annotations

import pytest
from acme_checkers import quick_answers
from acme_scenarios import SCENARIOS

from fencepost.harness.checkers.control import NewestViews
from fencepost.harness.checkers.history import History, Send, SendOutcome
from fencepost.harness.conformance.live import LiveCluster, LiveFaults, LiveWorkload
from fencepost.harness.conformance.session import Session
from fencepost.results.records.verdict import Verdict
from fencepost.suites.scenario import Scenario
from fencepost.suites.target_facts import TargetFacts


@pytest.mark.requirement("ACME-01")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=repr)
def test_scenario(scenario: Scenario, fencepost: Session) -> None:
    """Run the scenario on a real cluster; it fails with the rule that was broken."""
    plan = scenario.plan(TargetFacts.of(fencepost.target), fencepost.seed)
    verdict = fencepost.prove(plan, section="Replication")
    assert "acme-quick-answers" in {finding.check for finding in verdict.findings}


def test_a_paused_leader_is_replaced(
    fencepost_cluster: LiveCluster, fencepost_faults: LiveFaults, fencepost_workload: LiveWorkload
) -> None:
    """The same without a scenario: each call is a step of a plan, and the run is judged at the end of the test."""
    fencepost_workload.start()
    leader = fencepost_cluster.leader("t-0")
    with fencepost_faults.inject("pause", nodes=leader):
        fencepost_cluster.wait_until("leader", partition="t-0", is_not=leader)
        fencepost_workload.wait_for(20)


@pytest.mark.requirement("ACME-02")
@pytest.mark.parametrize(("seconds", "expected"), [(29.0, Verdict.PASS), (31.0, Verdict.VIOLATION)])
def test_a_late_answer_is_found(seconds: float, expected: Verdict) -> None:
    send = Send("p1-1", "p1", "t", "v1", "all", False, 1.0, SendOutcome.OK, 1.0 + seconds, 0, 0)
    assert quick_answers(History((send,), (), {}, NewestViews(()))).verdict is expected


def test_the_environment_of_acme_is_its_own(environment: str) -> None:
    assert environment == "staging"
