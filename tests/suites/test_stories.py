"""Every story becomes a sound plan, the same one each time, for each target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.plan.check import problems
from harness.plan.file import dump_plan, parse_plan
from harness.plan.hash import plan_hash
from harness.plan.model import Plan
from harness.plan.steps import Roll
from harness.targets.target import Dialect, load_file, names
from suites.faults.stories import STORIES as FAULTS
from suites.kip_631.stories import STORIES as KIP_631
from suites.replication_v2.stories.kip_101 import STORIES as KIP_101
from suites.requirements import load
from suites.stories import STORIES, told_to
from suites.story import ALWAYS, Story, TargetFacts

TARGETS = {name: TargetFacts.of(name) for name in names()}
CATALOGUE = load()

every_plan = pytest.mark.parametrize(
    ("story", "target"),
    [
        pytest.param(story, target, id=f"{story.slug}-{target}")
        for target, facts in TARGETS.items()
        for story in told_to(facts)
    ],
)


def claims(plan: Plan) -> Iterator[tuple[str, str | None]]:
    """The requirement of each expectation, with the difference that it follows."""
    for step in plan.steps:
        expect = getattr(step, "expect", None)
        if expect is not None:
            yield expect.requirement, expect.difference
    for deviation in plan.deviations:
        yield deviation.requirement, deviation.difference


def test_no_two_stories_share_a_name() -> None:
    assert len({story.slug for story in STORIES}) == len(STORIES) >= 15


def test_reports_know_a_story_by_its_name_alone() -> None:
    assert [repr(story) for story in STORIES] == [story.slug for story in STORIES]


def test_the_longest_stories_start_first() -> None:
    lengths = [story.seconds for story in STORIES]
    assert lengths == sorted(lengths, reverse=True)


@every_plan
def test_a_story_compiles_to_a_plan_without_problems(story: Story, target: str) -> None:
    plan = story.plan(TargetFacts.of(target), seed=1)
    assert problems(plan) == []
    assert plan.coverage, "a story without coverage could pass without having been told"


@every_plan
def test_a_plan_survives_its_file(story: Story, target: str) -> None:
    plan = story.plan(TargetFacts.of(target), seed=1)
    assert parse_plan(dump_plan(plan), "plan.yaml") == plan


@every_plan
def test_one_seed_gives_one_plan_and_seeds_differ(story: Story, target: str) -> None:
    facts = TargetFacts.of(target)
    assert plan_hash(story.plan(facts, seed=7)) == plan_hash(story.plan(facts, seed=7))
    assert len({plan_hash(story.plan(facts, seed=seed)) for seed in range(4)}) == 4


@every_plan
def test_a_story_names_what_its_steps_claim_and_nothing_unknown(story: Story, target: str) -> None:
    plan = story.plan(TargetFacts.of(target), seed=1)
    CATALOGUE.check(plan.requirements, story.slug)
    assert {requirement for requirement, _ in claims(plan)} <= set(plan.requirements)


@every_plan
def test_of_a_target_that_differs_a_plan_names_only_what_it_claims_or_what_every_run_proves(
    story: Story, target: str
) -> None:
    plan = story.plan(TargetFacts.of(target), seed=1)
    if not TARGETS[target].follows_its_documents:
        assert set(plan.requirements) - set(ALWAYS) == {requirement for requirement, _ in claims(plan)} - set(ALWAYS)


@every_plan
def test_a_plan_names_no_document_of_another_design(story: Story, target: str) -> None:
    facts = TARGETS[target]
    assert all(facts.owes(requirement) for requirement in story.plan(facts, seed=1).requirements)


@every_plan
def test_a_story_is_told_at_a_level_that_the_target_has(story: Story, target: str) -> None:
    plan = story.plan(TARGETS[target], seed=1)
    rolled = (step.level for step in plan.steps if isinstance(step, Roll))
    levels = {plan.level, *(node.level for node in plan.topology.nodes), *rolled} - {None}
    assert levels <= set(TARGETS[target].levels)


def test_every_story_is_for_somebody() -> None:
    told = {story.slug for facts in TARGETS.values() for story in told_to(facts)}
    assert told == {story.slug for story in STORIES}


@every_plan
def test_a_story_follows_only_differences_that_its_target_lists(story: Story, target: str) -> None:
    listed = {difference.id for difference in load_file(target).differences}
    used = {difference for _, difference in claims(story.plan(TargetFacts.of(target), seed=1)) if difference}
    assert used <= listed


@pytest.mark.parametrize("target", TARGETS)
def test_every_listed_difference_is_checked_by_a_story(target: str) -> None:
    facts = TARGETS[target]
    checked = {difference for story in told_to(facts) for _, difference in claims(story.plan(facts, seed=1))}
    assert facts.differences <= checked


@pytest.mark.parametrize("target", TARGETS)
def test_differences_name_requirements_of_the_catalogue(target: str) -> None:
    CATALOGUE.check([difference.requirement for difference in load_file(target).differences], f"{target}.yaml")


def test_a_target_without_a_capability_is_told_which() -> None:
    facts = replace(TARGETS["quorum"], capabilities=frozenset())
    assert all(story.lacking(facts) for story in told_to(facts))


@every_plan
def test_every_target_can_do_what_its_stories_need(story: Story, target: str) -> None:
    assert story.lacking(TARGETS[target]) is None


def test_the_registry_holds_each_story_once_and_leaves_out_what_is_for_others() -> None:
    quorum = told_to(TARGETS["quorum"])
    told = (*KIP_631, *KIP_101, *(story for story in FAULTS if Dialect.KIP_631 in story.dialects))
    assert quorum == tuple(story for story in STORIES if story in told)
