"""Bytes between nodes that are lost, held back, torn or slow."""

from __future__ import annotations

from suites.story import Story

STORIES: tuple[Story, ...] = ()
