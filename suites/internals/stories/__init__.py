"""Every story of the suite. One file a theme; each exports `STORIES`."""

from suites.internals.stories import commands, crashes, ensemble, reaching, registration, shutdown, split_brain, topics
from suites.story import Story

STORIES: tuple[Story, ...] = (
    *reaching.STORIES,
    *ensemble.STORIES,
    *split_brain.STORIES,
    *registration.STORIES,
    *crashes.STORIES,
    *topics.STORIES,
    *commands.STORIES,
    *shutdown.STORIES,
)
