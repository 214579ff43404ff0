"""Processes that die, end, come back and come back again."""

from __future__ import annotations

from suites.story import Story

STORIES: tuple[Story, ...] = ()
