"""Errors that end the scenario of a run; the run itself goes on to its end and is judged."""

from __future__ import annotations


class StepError(Exception):
    """A step cannot be done, so the rest of the scenario proves nothing: inconclusive, with this message."""


class StepTimeout(StepError):
    """A condition that the rest of the scenario needs did not become true in time."""


class UnresolvedRole(StepError):
    """A reference resolves to no node, or a value is unknown, at this moment."""


class FaultError(Exception):
    """A fault cannot be proven, or cannot be healed, so nothing that follows proves anything."""
