"""Who may end by itself because a fault let it start as somebody else."""

from __future__ import annotations

from faults.identity.misled import MisledFault
from faults.registry import FAULTS
from results.records.events import Event
from results.records.journal import Journal

MISLEADING = frozenset(
    name for name, fault in FAULTS.items() if isinstance(fault, type) and issubclass(fault, MisledFault)
)


def misled(exited: Event, journal: Journal) -> bool:
    """Whether the node's directories or configuration were wrong when it ended: to refuse them is right."""
    wrong: set[str] = set()
    for event in journal.of("fault", "intent", "recovering"):
        if event.t > exited.t:
            break
        if event.phase == "recovering":
            wrong.discard(event.id)
        elif event.data.get("fault") in MISLEADING and exited.id in event.data.get("nodes", ()):
            wrong.add(event.id)
    return bool(wrong)
