"""The error of a step that cannot be done."""

from __future__ import annotations


class StepError(Exception):
    """A step cannot be done, so the rest of the scenario proves nothing: inconclusive, with this message."""
