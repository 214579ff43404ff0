"""How a story of this suite is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from faults.capabilities import Capability
from harness.plan.model import Plan
from suites.story import AROUND_ZOOKEEPER, Story, TargetFacts

DOCUMENT = "ReplicaStateEvent"
REPLICA_EVENTS = ("replica-events",)
"""At the level of the document, where a target has it."""
OR_AS_SHIPPED = ("replica-events", "shipped")
"""And where it has not, to show what is shipped in its place."""


def replica_state_event(
    slug: str,
    title: str,
    build: Callable[[Story, TargetFacts, int], Plan],
    seconds: int,
    *requirements: str,
    needs: Iterable[Capability] = (),
    levels: tuple[str, ...] = REPLICA_EVENTS,
) -> Story:
    return Story(
        slug=slug,
        title=title,
        requirements=(*requirements, "LIVE-01", "LIVE-03"),
        needs=frozenset(needs),
        seconds=seconds,
        build=build,
        document=DOCUMENT,
        dialects=AROUND_ZOOKEEPER,
        levels=levels,
    )
