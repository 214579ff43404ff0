"""Lanes of a rolling upgrade: the release and the protocol level of each process of a node."""

from collections.abc import Mapping
from typing import Any

from fencepost.harness.plan.model import Plan
from fencepost.harness.report.node_lanes import process_changes
from fencepost.harness.report.shapes import Change, Rows, Segment, sweep
from fencepost.results.records.journal import Journal

KINDS = ("standby", "active", "leader")
"""From pale to dark, in the order in which the values first appear. Further values share the last one."""


def level_lanes(plan: Plan, journal: Journal) -> tuple[Rows, ...]:
    """Return a row for each broker, or none if all ran at one level all the time."""
    return _lanes(plan, journal, "level", "runs at the level")


def release_lanes(plan: Plan, journal: Journal) -> tuple[Rows, ...]:
    """Return a row for each node, or none if all ran one release all the time."""
    return _lanes(plan, journal, "release", "runs the release")


def _lanes(plan: Plan, journal: Journal, key: str, runs: str) -> tuple[Rows, ...]:
    starts = [event for event in journal.of("node", "started") if event.data.get(key)]
    values = list(dict.fromkeys(str(event.data[key]) for event in starts))
    if len(values) < 2:
        return ()

    def draw(state: Mapping[str, Any]) -> Segment | None:
        if "process" not in state or key not in state:
            return None
        value = state[key]
        return Segment(0, 0, KINDS[min(values.index(value), 2)], (value,), f"{runs} {value}")

    rows = []
    for node in plan.topology.nodes:
        changes: list[Change] = [(event.t, key, event.data[key]) for event in starts if event.node == node.name]
        if changes:
            segments = sweep([*process_changes(node, journal), *changes], journal.duration, draw)
            rows.append((node.name.removeprefix("node-"), segments))
    return (Rows(key, "of each process", tuple(rows)),)
