"""Faults of identity: who claims an id, a directory or a cluster that is not its own."""

from __future__ import annotations

from faults.fault import Fault
from faults.identity.changed_id import ChangedId
from faults.identity.duplicate import Duplicate
from faults.identity.foreign_cluster import ForeignCluster
from faults.identity.swapped import Swapped

FAULTS: tuple[type[Fault], ...] = (
    Duplicate,
    Swapped,
    ForeignCluster,
    ChangedId,
)
