"""Faults of links: bytes that do not arrive, arrive late, or arrive in part."""

from __future__ import annotations

from faults.fault import Fault
from faults.links.blackhole import LinkBlackhole
from faults.links.bridge import Bridge
from faults.links.cut import LinkCut
from faults.links.cut_after_bytes import CutAfterBytes
from faults.links.flapping import Flapping
from faults.links.isolate import Isolate
from faults.links.one_way import LinkOneWay
from faults.links.reset import LinkReset
from faults.links.ring import Ring
from faults.links.slow import LinkSlow
from faults.links.stall import LinkStall

FAULTS: tuple[type[Fault], ...] = (
    LinkCut,
    LinkStall,
    LinkBlackhole,
    LinkOneWay,
    Isolate,
    Bridge,
    Ring,
    Flapping,
    LinkSlow,
    LinkReset,
    CutAfterBytes,
)
