"""One story told to one target, as a test."""

from __future__ import annotations

from harness.conformance.session import Session
from suites.requirements import load
from suites.story import Story, TargetFacts

CATALOGUE = load()


def tell(story: Story, fencepost: Session) -> None:
    """Run it and raise unless it passed. Skipped, with the reason, where the target cannot do what it needs."""
    target = TargetFacts.of(fencepost.target)
    plan = story.plan(target, fencepost.seed)
    lacking = story.lacking(target, fencepost.settings.backend)
    if lacking is not None:
        fencepost.skip(story.slug, story.title, plan.requirements, lacking)
    fencepost.prove(plan, section=CATALOGUE[plan.requirements[0]].section)
