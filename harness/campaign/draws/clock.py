"""Draws of clocks: the wall clock that a node reads."""

from __future__ import annotations

KINDS = ()
