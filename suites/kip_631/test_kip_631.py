"""The conformance suite of KIP-631 version 28: every story, told to one target.

pytest suites/kip_631 --target apache-kafka:4.3.1 --seed 7 -n 3 --dist worksteal
"""

from __future__ import annotations

import pytest

from harness.conformance.session import Session
from suites.kip_631.stories import STORIES
from suites.kip_631.story import Story, TargetFacts
from suites.requirements import load

CATALOGUE = load()


TESTS = [pytest.param(story, id=story.slug, marks=pytest.mark.requirement(*story.requirements)) for story in STORIES]


@pytest.mark.parametrize("story", TESTS)
def test_story(story: Story, fencepost: Session) -> None:
    target = TargetFacts.of(fencepost.target)
    lacking = story.lacking(target)
    if lacking is not None:
        fencepost.skip(story.slug, story.title, story.requirements, lacking)
    fencepost.prove(story.plan(target, fencepost.seed), section=CATALOGUE[story.requirements[0]].section)
