"""How a story of this suite is told: to every design, whichever document describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from faults.capabilities import Capability
from harness.plan.model import Plan
from harness.targets.target import Dialect
from suites.story import EVERYWHERE, Story, TargetFacts

DOCUMENT = "Faults"


def hears(target: TargetFacts) -> tuple[str, ...]:
    """Whom a broker has to hear to go on serving, where it keeps a deadline of its own."""
    if target.leader_driven:
        return ("zookeeper",)
    return ("zookeeper", "active-controller") if target.around_zookeeper else ("controllers",)


def everywhere(
    slug: str,
    title: str,
    build: Callable[[Story, TargetFacts, int], Plan],
    seconds: int,
    *requirements: str,
    needs: Iterable[Capability],
    dialects: frozenset[Dialect] = EVERYWHERE,
) -> Story:
    """A story of one fault, or of a few together, that becomes whole again at its end.

    `needs`: what the targets of its `dialects` must be capable of, as their files list it. `requirements` may be rows
    of several documents: a plan names those that its target's design is described by.
    """
    return Story(
        slug=slug,
        title=title,
        requirements=(*requirements, "LIVE-01", "LIVE-03"),
        needs=frozenset(needs),
        seconds=seconds,
        build=build,
        document=DOCUMENT,
        dialects=dialects,
    )
