"""Faults of identity: who claims an id, a directory or a cluster that is not its own."""

from __future__ import annotations

from faults.fault import Fault
from faults.identity.duplicate import Duplicate

FAULTS: tuple[type[Fault], ...] = (Duplicate,)
