"""Every story of the suite. One file a theme; each exports `STORIES`."""

from suites.story import Story

STORIES: tuple[Story, ...] = ()
