"""Processes that claim an id, a directory or a cluster that is not theirs."""

from __future__ import annotations

from suites.story import Story

STORIES: tuple[Story, ...] = ()
