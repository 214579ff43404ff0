"""Every story of the suite. One file a theme; each exports `STORIES`."""

from suites.replica_state_event.stories import log_dirs, requests
from suites.story import Story

STORIES: tuple[Story, ...] = (*log_dirs.STORIES, *requests.STORIES)
