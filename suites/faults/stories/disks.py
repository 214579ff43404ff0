"""Disks that fail, fill up, lie or forget."""

from __future__ import annotations

from suites.story import Story

STORIES: tuple[Story, ...] = ()
