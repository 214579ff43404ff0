"""The errors of a step that cannot be done."""

from __future__ import annotations


class StepError(Exception):
    """A step cannot be done, so the rest of the scenario proves nothing: inconclusive, with this message."""


class StepTimeout(StepError):
    """A condition that the rest of the scenario needs did not become true in time."""
