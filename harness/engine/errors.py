"""Errors that end the scenario of a run; the run itself goes on to its end and is judged."""

from __future__ import annotations

from fencepost.harness.plan.step_error import StepError, StepTimeout

__all__ = ["FaultError", "StepError", "StepTimeout", "UnresolvedRole"]


class UnresolvedRole(StepError):
    """A reference resolves to no node, or a value is unknown, at this moment."""


class FaultError(Exception):
    """A fault cannot be proven, or cannot be healed, so nothing that follows proves anything."""
