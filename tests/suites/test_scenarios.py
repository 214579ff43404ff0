"""Every scenario builds a sound plan, the same one each time, for each target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fencepost.faults.capabilities import Capability
from fencepost.harness.catalogue import catalogue
from fencepost.harness.checkers.owed import every_run, every_workload, judged_requirements
from fencepost.harness.plan.claims import claims as claims_of
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.file import dump_plan, parse_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.rehearsal import problems_to_run
from fencepost.harness.plan.steps.roll import Roll
from fencepost.harness.targets.registry import load_file, names
from fencepost.suites.scenario import Scenario, declared_in
from fencepost.suites.scenarios import SCENARIOS, SUITES, scenarios_for
from fencepost.suites.target_facts import TargetFacts

UPGRADED = ("apache-kafka:3.9.2..4.4.0", "apache-kafka:4.3.1..4.4.0", "apache-kafka-zk:2.8.2..3.9.2")
TARGETS = {name: TargetFacts.of(name) for name in (*names(), *UPGRADED)}
CATALOGUE = catalogue()


def scenarios_on(target: str) -> Iterator[Scenario]:
    """Yield the scenarios that the target can run; of one with two releases, those that need both."""
    facts = TARGETS[target]
    for scenario in scenarios_for(facts):
        if scenario.unavailable_reason(facts) is None and (target not in UPGRADED or scenario.releases == 2):
            yield scenario


every_plan = pytest.mark.parametrize(
    ("scenario", "target"),
    [
        pytest.param(scenario, target, id=f"{scenario.slug}-{target}")
        for target in TARGETS
        for scenario in scenarios_on(target)
    ],
)


def claims(plan: Plan) -> Iterator[tuple[str, str | None]]:
    """The requirement of each expectation, with the difference that it follows."""
    yield from ((claim.requirement, claim.difference) for claim in claims_of(plan))


def judged_by_claims(plan: Plan) -> set[str]:
    """The requirements that a run of the plan judges by its claims; a deviation that may show judges none."""
    return {claim.requirement for claim in claims_of(plan) if claim.is_judged}


def test_no_two_scenarios_share_a_name() -> None:
    assert len({scenario.slug for scenario in SCENARIOS}) == len(SCENARIOS) >= 15


def test_reports_know_a_scenario_by_its_name_alone() -> None:
    assert [repr(scenario) for scenario in SCENARIOS] == [scenario.slug for scenario in SCENARIOS]


def test_the_longest_scenarios_start_first() -> None:
    lengths = [scenario.seconds for scenario in SCENARIOS]
    assert lengths == sorted(lengths, reverse=True)


@every_plan
def test_a_scenario_compiles_to_a_plan_without_problems(scenario: Scenario, target: str) -> None:
    plan = scenario.plan(TargetFacts.of(target), seed=1)
    assert problems_to_run(plan) == []
    assert plan.coverage, "a scenario without coverage could pass without having shown anything"


@every_plan
def test_a_plan_survives_its_file(scenario: Scenario, target: str) -> None:
    plan = scenario.plan(TargetFacts.of(target), seed=1)
    assert parse_plan(dump_plan(plan), "plan.yaml") == plan


@every_plan
def test_one_seed_gives_one_plan_and_seeds_differ(scenario: Scenario, target: str) -> None:
    facts = TargetFacts.of(target)
    assert plan_hash(scenario.plan(facts, seed=7)) == plan_hash(scenario.plan(facts, seed=7))
    assert len({plan_hash(scenario.plan(facts, seed=seed)) for seed in range(4)}) == 4


@every_plan
def test_a_scenario_names_what_its_steps_claim_and_nothing_unknown(scenario: Scenario, target: str) -> None:
    plan = scenario.plan(TargetFacts.of(target), seed=1)
    CATALOGUE.check(plan.requirements, scenario.slug)
    assert judged_by_claims(plan) <= set(plan.requirements)


@every_plan
def test_every_requirement_that_a_plan_names_is_judged_by_something_in_it(scenario: Scenario, target: str) -> None:
    facts = TARGETS[target]
    plan = scenario.plan(facts, seed=1)
    unjudged = set(plan.requirements) - judged_requirements(plan, facts.dialect)
    assert unjudged <= set(every_run()) - set(every_run(facts.dialect))


@every_plan
def test_of_a_target_that_differs_a_plan_names_only_what_it_claims_or_what_every_run_proves(
    scenario: Scenario, target: str
) -> None:
    plan = scenario.plan(TargetFacts.of(target), seed=1)
    if not TARGETS[target].follows_its_documents:
        judged = {*every_run(), *every_workload(plan.workload)}
        assert set(plan.requirements) - judged == judged_by_claims(plan) - judged


@every_plan
def test_a_plan_names_no_document_of_another_design(scenario: Scenario, target: str) -> None:
    facts = TARGETS[target]
    assert all(facts.owes(requirement) for requirement in scenario.plan(facts, seed=1).requirements)


@every_plan
def test_a_scenario_runs_at_a_level_that_the_target_has(scenario: Scenario, target: str) -> None:
    plan = scenario.plan(TARGETS[target], seed=1)
    rolled = (step.level for step in plan.steps if isinstance(step, Roll))
    levels = {plan.level, *(node.level for node in plan.topology.nodes), *rolled} - {None}
    assert levels <= set(load_file(target).levels)


def test_every_scenario_applies_to_a_target() -> None:
    applicable = {scenario.slug for facts in TARGETS.values() for scenario in scenarios_for(facts)}
    # No target here has services or front ends: tests/harness/targets runs the scenarios of those that have.
    assert applicable == {scenario.slug for scenario in SCENARIOS if not (scenario.services or scenario.front_ends)}


@every_plan
def test_a_scenario_follows_only_differences_that_its_target_lists(scenario: Scenario, target: str) -> None:
    listed = {difference.id for difference in load_file(target).differences}
    used = {difference for _, difference in claims(scenario.plan(TargetFacts.of(target), seed=1)) if difference}
    assert used <= listed


@pytest.mark.parametrize("target", TARGETS)
def test_every_listed_difference_is_checked_by_a_scenario(target: str) -> None:
    facts = TARGETS[target]
    checked = {
        difference for scenario in scenarios_for(facts) for _, difference in claims(scenario.plan(facts, seed=1))
    }
    assert facts.differences <= checked


@pytest.mark.parametrize("target", TARGETS)
def test_differences_name_requirements_of_the_catalogue(target: str) -> None:
    file = load_file(target)
    named = [*(each.requirement for each in file.differences), *(each.requirement for each in file.known_bugs)]
    CATALOGUE.check(named, f"{target}.yaml")


def test_the_reason_names_the_capability_that_a_target_does_not_have() -> None:
    facts = replace(TARGETS["quorum"], capabilities=frozenset())
    possible = [scenario.slug for scenario in scenarios_for(facts) if scenario.unavailable_reason(facts) is None]
    nothing_broken = {"drafted-requests", "logins-between-nodes", "refused-configurations", "refused-topics"}
    nothing_broken |= {
        "any-as-asked",
        "any-deletes-one",
        "any-mistakes",
        "any-names",
        "any-offsets-by-time",
        "any-settings",
        "any-two-connections",
        "any-validates-only",
    }
    assert set(possible) == nothing_broken, "these break nothing"


def test_a_target_that_serves_fewer_kinds_of_clients_lists_their_scenarios_with_the_reason() -> None:
    facts = replace(TARGETS["apache-kafka"], workloads=frozenset())
    skipped = {each.slug: each.unavailable_reason(facts) for each in scenarios_for(facts) if each.workloads}
    assert skipped.keys() >= {
        *("group-coordinator-killed", "group-coordinator-paused"),
        *("transaction-coordinator-killed", "transactional-producer-fenced"),
    }
    no_groups = f"{facts.reference} serves no groups, static-members (`workloads` of its target file)"
    assert skipped["group-coordinator-killed"] == no_groups


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_is_capable_of_what_its_scenarios_need(target: str) -> None:
    """The nodes of some run as processes alone, and have no network of their own."""
    facts = TARGETS[target]
    capable = facts.capabilities | {Capability.NETWORK}
    assert [each.slug for each in scenarios_for(facts) if not each.capabilities(facts) <= capable] == []


def test_the_registry_holds_each_scenario_once_and_leaves_out_what_is_for_others() -> None:
    quorum = scenarios_for(TARGETS["quorum"])
    shared = (*SUITES["any"], *SUITES["kraft_kips"], *SUITES["faults"])
    others = (each for each in shared if not (each.services or each.front_ends))
    of_several = (each for each in others if Dialect.KIP_631 in each.dialects)
    applicable = (*SUITES["kip_631"], *declared_in("fencepost.suites.replication_v2.kip_101"), *of_several)
    assert quorum == tuple(each for each in SCENARIOS if each in applicable)
