"""Who may end by itself because a fault let it start as somebody else."""

from __future__ import annotations

from math import inf

from faults.identity.misled import MisledFault
from faults.registry import FAULTS
from results.records.events import Event
from results.records.journal import Journal

MISLEADING = frozenset(
    name for name, fault in FAULTS.items() if isinstance(fault, type) and issubclass(fault, MisledFault)
)


def misled(exited: Event, journal: Journal) -> bool:
    """Whether the node's directories or configuration were wrong when the process that ended was started: to refuse
    them is right, however long it takes."""
    started = max((event.t for event in journal.of("node", "started") if _before(event, exited)), default=-inf)
    wrong: set[str] = set()
    for event in journal.of("fault", "intent", "recovering"):
        if event.t > started:
            break
        if event.phase == "recovering":
            wrong.discard(event.id)
        elif event.data.get("fault") in MISLEADING and exited.id in event.data.get("nodes", ()):
            wrong.add(event.id)
    return bool(wrong)


def _before(started: Event, exited: Event) -> bool:
    return started.id == exited.id and started.t <= exited.t
