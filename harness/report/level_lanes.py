"""Lanes of a rolling upgrade: at which protocol level each process of a node runs."""

from collections.abc import Mapping
from typing import Any

from harness.plan.model import Plan
from harness.report.node_lanes import process_changes
from harness.report.shapes import Change, Rows, Segment, sweep
from results.records.journal import Journal

KINDS = ("standby", "active", "leader")
"""From pale to dark, in the order in which the levels were first seen; more levels share the last."""


def level_lanes(plan: Plan, journal: Journal) -> tuple[Rows, ...]:
    """A row for each broker, none if all ran at one level all the time."""
    starts = [event for event in journal.of("node", "started") if event.data.get("level")]
    levels = list(dict.fromkeys(str(event.data["level"]) for event in starts))
    if len(levels) < 2:
        return ()

    def draw(state: Mapping[str, Any]) -> Segment | None:
        if "process" not in state or "level" not in state:
            return None
        level = state["level"]
        return Segment(0, 0, KINDS[min(levels.index(level), 2)], (level,), f"runs at the level {level}")

    rows = []
    for node in plan.topology.nodes:
        changes: list[Change] = [(event.t, "level", event.data["level"]) for event in starts if event.node == node.name]
        if changes:
            segments = sweep([*process_changes(node, journal), *changes], journal.duration, draw)
            rows.append((node.name.removeprefix("node-"), segments))
    return (Rows("level", "of each process", tuple(rows)),)
