"""Draws of disks: log directories that fail."""

from __future__ import annotations

KINDS = ()
