"""What plans break a cluster with: one file for each family of faults, each with its `KINDS`."""

from __future__ import annotations

from harness.campaign.draws import clock, containers, disks, identity, links, processes
from harness.campaign.draws.base import Drawn, Kind, Part, Undo, Who

KINDS: tuple[Kind, ...] = (
    *links.KINDS,
    *processes.KINDS,
    *identity.KINDS,
    *disks.KINDS,
    *clock.KINDS,
    *containers.KINDS,
)

__all__ = ["KINDS", "Drawn", "Kind", "Part", "Undo", "Who"]
