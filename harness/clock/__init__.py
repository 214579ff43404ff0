"""A wall clock of its own for a node: a library in front of the machine's clock, and the file that it obeys."""

from __future__ import annotations

from fencepost.harness.clock.library import unavailable_reason

__all__ = ["unavailable_reason"]
