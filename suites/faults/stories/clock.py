"""The wall clock of a node jumps and drifts; no deadline follows it."""

from __future__ import annotations

from suites.story import Story

STORIES: tuple[Story, ...] = ()
