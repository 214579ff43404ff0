"""How a story of this suite is told."""

from __future__ import annotations

from functools import partial

from suites.story import around_zookeeper

DOCUMENT = "ReplicaStateEvent"
REPLICA_EVENTS = ("replica-events",)
"""At the level of the document, where a target has it."""
OR_AS_SHIPPED = ("replica-events", "shipped")
"""And where it has not, to show what is shipped in its place."""

replica_state_event = partial(around_zookeeper, document=DOCUMENT, levels=REPLICA_EVENTS)
