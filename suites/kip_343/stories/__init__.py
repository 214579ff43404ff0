"""Every story of the suite. One file a theme; each exports `STORIES`."""

from suites.kip_343.stories import heartbeats, incarnations, isr_changes, requests, rolls
from suites.story import Story

STORIES: tuple[Story, ...] = (
    *heartbeats.STORIES,
    *requests.STORIES,
    *incarnations.STORIES,
    *isr_changes.STORIES,
    *rolls.STORIES,
)
