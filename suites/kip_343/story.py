"""How a story of this suite is told."""

from __future__ import annotations

from functools import partial

from suites.story import around_zookeeper

DOCUMENT = "KIP-343"
HEARTBEATS = ("heartbeats",)
"""At the level of the document, where a target has it."""
OR_AS_SHIPPED = ("heartbeats", "shipped")
"""And where it has not, to show what is shipped in its place."""

kip_343 = partial(around_zookeeper, document=DOCUMENT, levels=HEARTBEATS)
