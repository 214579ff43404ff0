"""Rows of the table `state_changes`: what changed in the cluster, when the first observer saw it.

Several observers report the same states, some of them late. A state of an earlier epoch, or one that was reported
before, is no change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

_PROCESS = ("started", "exited", "killed", "paused", "resumed", "stopped")

Seen = tuple[str, str, str, int | None]
"""Kind, subject, state and epoch."""


def state_change_rows(journal: Journal) -> list[dict[str, Any]]:
    """Return the changes in the order in which they were seen."""
    rows: list[dict[str, Any]] = []
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
            rows.append(
                {
                    "at_s": event.t,
                    "kind": kind,
                    "subject": subject,
                    "before": before,
                    "after": state,
                    "epoch": epoch,
                    "fault": faults[-1] if faults else None,
                }
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
