"""Rows of the table `faults`: when each fault was ordered, proven and healed, and what it hit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fencepost.harness.campaign.coverage import Hit, OrderedFault
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

_TIMES = {"injected": "injected_s", "proven": "proven_s", "recovering": "healing_s", "healed": "healed_s"}


def fault_rows(ordered: Mapping[str, OrderedFault], journal: Journal) -> list[dict[str, Any]]:
    """Return a row for each fault, node that it hit and role of the node, in the order of the faults."""
    phases: dict[str, dict[str, float]] = {name: {} for name in ordered}
    active_at_order: dict[str, int] = {}
    active: set[str] = set()
    for event in journal.of("fault"):
        if event.id not in phases:
            continue
        phases[event.id].setdefault(event.phase, event.t)
        if event.phase == "intent":
            active_at_order[event.id] = len(active)
            active.add(event.id)
        elif event.phase == "healed":
            active.discard(event.id)
    return [
        {
            "fault": name,
            "kind": fault.intent.data["fault"],
            "parameters": _parameters(fault.intent),
            "node": hit and hit.node,
            "role": hit and hit.role,
            "node_state": hit and hit.state,
            "cluster_state": fault.cluster,
            "active_faults": active_at_order[name],
            "ordered_s": fault.intent.t,
            **{column: phases[name].get(phase) for phase, column in _TIMES.items()},
            "outcome": _outcome(phases[name]),
        }
        for name, fault in ordered.items()
        for hit in (fault.hits or _NO_HIT)
    ]


_NO_HIT: tuple[Hit | None, ...] = (None,)


def _parameters(intent: Event) -> str | None:
    found = intent.data.get("params")
    return json.dumps(found, sort_keys=True, default=str) if found else None


def _outcome(phases: Mapping[str, float]) -> str:
    return next((phase for phase in ("healed", "unhealed", "unproven", "proven") if phase in phases), "ordered")
