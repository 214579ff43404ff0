"""Faults of links: bytes that do not arrive, arrive late, or arrive in part."""

from __future__ import annotations

from faults.fault import Fault
from faults.links.cut import LinkCut
from faults.links.isolate import Isolate
from faults.links.one_way import LinkOneWay
from faults.links.stall import LinkStall

FAULTS: tuple[type[Fault], ...] = (
    LinkCut,
    Isolate,
    LinkOneWay,
    LinkStall,
)
