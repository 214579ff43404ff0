"""How a story of this suite is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from faults.capabilities import Capability
from harness.plan.model import Plan
from suites.story import AROUND_ZOOKEEPER, Story, TargetFacts

DOCUMENT = "Kafka internals"


def internals(
    slug: str,
    title: str,
    build: Callable[[Story, TargetFacts, int], Plan],
    seconds: int,
    *requirements: str,
    needs: Iterable[Capability] = (),
    levels: tuple[str, ...] = (),
) -> Story:
    """A story of the controller in ZooKeeper; without levels, at the target's own."""
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
