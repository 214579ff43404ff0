"""Nodes that may end by themselves because a fault started them with a wrong identity."""

from __future__ import annotations

from math import inf

from fencepost.faults.identity.misconfigured import MisconfiguredFault
from fencepost.faults.registry import FAULTS
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

WRONG_IDENTITY_FAULTS = frozenset(name for name, fault in FAULTS.items() if issubclass(fault, MisconfiguredFault))


def started_with_wrong_identity(exited: Event, journal: Journal) -> bool:
    """Return whether the process that ended was started with wrong directories or a wrong configuration.

    A node must refuse these, so it may end over them, however long that takes.
    """
    started = max((event.t for event in journal.of("node", "started") if _before(event, exited)), default=-inf)
    wrong: set[str] = set()
    for event in journal.of("fault", "intent", "recovering"):
        if event.t > started:
            break
        if event.phase == "recovering":
            wrong.discard(event.id)
        elif event.data.get("fault") in WRONG_IDENTITY_FAULTS and exited.id in event.data.get("nodes", ()):
            wrong.add(event.id)
    return bool(wrong)


def _before(started: Event, exited: Event) -> bool:
    return started.id == exited.id and started.t <= exited.t
