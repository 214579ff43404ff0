"""A wall clock of its own for a node: a library in front of the machine's clock, and the file that it obeys."""

from __future__ import annotations

from harness.clock.library import lacking

__all__ = ["lacking"]
