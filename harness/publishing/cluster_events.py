"""Rows of the tables `faults` and `state_changes`: what was done to the cluster, and what changed in it.

Several observers report the same states, some of them late. A state of an earlier epoch, or one that was reported
before, is no change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fencepost.harness.campaign.coverage import Hit, OrderedFault
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal
from fencepost.results.store.rows import FaultRow, StateChangeRow


def fault_rows(ordered: Mapping[str, OrderedFault], journal: Journal) -> list[FaultRow]:
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
        FaultRow(
            fault=name,
            kind=fault.intent.data["fault"],
            parameters=_parameters(fault.intent),
            node=hit.node if hit else None,
            role=hit.role if hit else None,
            node_state=hit.state if hit else None,
            cluster_state=fault.cluster,
            active_faults=active_at_order[name],
            ordered_s=fault.intent.t,
            injected_s=phases[name].get("injected"),
            proven_s=phases[name].get("proven"),
            healing_s=phases[name].get("recovering"),
            healed_s=phases[name].get("healed"),
            outcome=_outcome(phases[name]),
        )
        for name, fault in ordered.items()
        for hit in (fault.hits or _NO_HIT)
    ]


_NO_HIT: tuple[Hit | None, ...] = (None,)


def _parameters(intent: Event) -> str | None:
    parameters = intent.data.get("params")
    return json.dumps(parameters, sort_keys=True, default=str) if parameters else None


def _outcome(phases: Mapping[str, float]) -> str:
    return next((phase for phase in ("healed", "unhealed", "unproven", "proven") if phase in phases), "ordered")


_PROCESS = ("started", "exited", "killed", "paused", "resumed", "stopped")

Seen = tuple[str, str, str, int | None]
"""Kind, subject, state and epoch."""


def state_change_rows(journal: Journal) -> list[StateChangeRow]:
    """Return the changes in the order in which they were seen."""
    rows: list[StateChangeRow] = []
    last: dict[tuple[str, str], tuple[str, int | None]] = {}
    known: set[Seen] = set()
    faults: list[str] = []
    for event in journal.events:
        if event.type == "fault":
            if event.phase == "intent":
                faults.append(event.id)
            elif event.phase == "healed" and event.id in faults:
                faults.remove(event.id)
            continue
        for seen in _seen(event):
            kind, subject, state, epoch = seen
            before, newest = last.get((kind, subject), (None, None))
            old = epoch is not None and (seen in known or (newest is not None and epoch < newest))
            if old or (before == state and kind != "process"):
                if not old:
                    last[kind, subject] = (state, epoch)
                continue
            known.add(seen)
            last[kind, subject] = (state, epoch)
            fault = faults[-1] if faults else None
            rows.append(
                StateChangeRow(
                    at_s=event.t, kind=kind, subject=subject, before=before, after=state, epoch=epoch, fault=fault
                )
            )
    return rows


def _seen(event: Event) -> Iterator[Seen]:
    data = event.data
    if event.type == "node" and event.phase in _PROCESS:
        yield "process", event.node or event.id, event.phase, None
    if event.type != "state":
        return
    match data.get("what"):
        case "broker":
            yield "lease", str(data.get("node") or data["id"]), str(data["state"]), _number(data.get("epoch"))
        case "partition":
            name, epoch = f"{data['topic']}-{data['partition']}", _number(data.get("leader_epoch"))
            yield "leader", name, str(data["leader"]), epoch
            yield "isr", name, ",".join(str(id) for id in sorted(data["isr"])), epoch
        case "controller":
            yield "controller", "controller", str(data["active"]), _number(data.get("epoch"))


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) else None
