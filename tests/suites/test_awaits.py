"""An await whose miss means something has an expectation: without one a stuck target is inconclusive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.model import Plan
from fencepost.suites.scenarios import SCENARIOS
from fencepost.suites.target_facts import TargetFacts

TARGETS = ("quorum", "zk-controller", "leader-driven", "apache-kafka:4.3.1", "apache-kafka-zk:3.9.1")
ACTS = frozenset({"inject", "shutdown", "start", "roll", "znode"})
"""Steps that break something. An await before the first of them waits for the set-up of a cluster that is whole."""

WITHOUT_EXPECTATION: Mapping[str, str] = {
    "adopted": "a line of the log tells from when on a probe counts; the probe after it has the claim",
    "open": "a line of the log tells from when on the leader serves clients; the burst after it has the claim",
    "asked-again": "a line of the log proves that the lost reply was noticed: a coverage statement asks for it",
    "drops-them": "a line of the log proves that the former leader wrote its ISR: a coverage statement asks for it",
    "credited": "the later steps judge which of two processes is credited; a target that must not do it has a claim",
    "fetching": "the duplicate may fetch or may be refused before: the later steps judge what comes of it",
    "in-sync": "part of the situation: the duplicate may hold the id by then, or may not",
    "held": "part of the situation: the follower holds on disk what it was not notified of",
    "committed": "part of the situation; the acknowledgements that go with it have claims",
    "all-in-sync": "part of the situation, while a fault is at work",
    "shared": "part of the situation: the second replica holds what the first one had, before the leader dies",
    "noted": "part of the situation: the leader's checkpoint has what was committed, before the leader is restarted",
    "notified-again": "part of the situation: the follower's checkpoint has what was committed before the fault",
    "gone": "part of the situation: the controller has ended before it is started without its vote",
    "stale": "part of the situation: what the follower's checkpoint says when it is killed",
}
"""The awaits after a first fault that claim nothing, each with the reason."""


def bare(plan: Plan) -> Iterator[str]:
    """Yield the names of the awaits without an expectation that follow a step that acts, without numbers of nodes."""
    acted = False
    for place, step in enumerate(plan.steps):
        acted = acted or step.do in ACTS
        if acted and isinstance(step, AwaitStep) and step.expect is None:
            yield plan.step_name(place).partition("-node-")[0]


@pytest.mark.parametrize("target", TARGETS)
def test_an_await_after_a_fault_has_an_expectation_or_a_reason_to_have_none(target: str) -> None:
    facts = TargetFacts.of(target)
    plans = [each.plan(facts, 1) for each in SCENARIOS if each.applies_to(facts)]
    found = {(plan.scenario, name) for plan in plans for name in bare(plan)}
    assert sorted(each for each in found if each[1] not in WITHOUT_EXPECTATION) == []


def test_each_reason_is_of_an_await_that_exists() -> None:
    plans = [
        each.plan(facts, 1) for facts in map(TargetFacts.of, TARGETS) for each in SCENARIOS if each.applies_to(facts)
    ]
    assert set(WITHOUT_EXPECTATION) - {name for plan in plans for name in bare(plan)} == set()
