"""Each suite is told to the target that was asked for: what is not for it is not there at all."""

from __future__ import annotations

import pytest

from suites.stories import told_to
from suites.story import Story, TargetFacts


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    stories: tuple[Story, ...] | None = getattr(metafunc.module, "STORIES", None)
    if stories is None or "story" not in metafunc.fixturenames:
        return
    target = TargetFacts.of(metafunc.config.getoption("--target"))
    metafunc.parametrize(
        "story",
        [
            pytest.param(story, id=story.slug, marks=pytest.mark.requirement(*story.plan(target, 0).requirements))
            for story in told_to(target, stories)
        ],
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest first, over all suites, so that none is left running alone at the end."""
    nothing = [item for item in items if _told(item) and _story(item) is None]
    if nothing:  # what pytest puts where there is no story for this target
        config.hook.pytest_deselected(items=nothing)
        items[:] = [item for item in items if item not in nothing]
    items.sort(key=lambda item: -story.seconds if (story := _story(item)) is not None else 0)


def _told(item: pytest.Item) -> bool:
    return "fencepost" in getattr(item, "fixturenames", ()) and hasattr(item, "callspec")


def _story(item: pytest.Item) -> Story | None:
    story = item.callspec.params.get("story") if hasattr(item, "callspec") else None
    return story if isinstance(story, Story) else None
