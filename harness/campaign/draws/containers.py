"""Draws of containers: off their network, or short of memory and processor."""

from __future__ import annotations

KINDS = ()
