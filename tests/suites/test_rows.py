"""No row of the catalogue is forgotten."""

from __future__ import annotations

import pytest

from harness.targets.target import names
from suites.matrix import named_by_tests
from suites.requirements import Requirement, load
from suites.stories import told_to
from suites.story import TargetFacts

NAMED_BY_STORIES = {
    requirement
    for facts in map(TargetFacts.of, names())
    for story in told_to(facts)
    for requirement in story.plan(facts, 0).requirements
}
NAMED_BY_TESTS = named_by_tests()


@pytest.mark.parametrize("row", list(load()), ids=lambda row: row.id)
def test_a_row_is_named_by_a_story_or_a_test_or_says_why_not(row: Requirement) -> None:
    named = row.id in NAMED_BY_STORIES or row.id in NAMED_BY_TESTS
    assert named or row.untested, f"{row.id} ({row.says}) is named by nothing and does not say why"
    assert not (named and row.untested), f"{row.id} is named by a story or a test: its `untested` is out of date"
