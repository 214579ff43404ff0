"""Lanes of a design with ZooKeeper: the holder of /controller, the ensemble, outdated metadata."""

from collections.abc import Iterator, Mapping
from typing import Any

from fencepost.harness.checkers.staleness import StaleAnswers, measure
from fencepost.harness.plan.model import NodeSpec, Plan
from fencepost.harness.report.node_lanes import answers_strip, node_marks, process_changes
from fencepost.harness.report.shapes import Bars, Change, Rows, Segment, sweep
from fencepost.harness.targets.registry import load_file
from fencepost.results.records.journal import Journal


def zookeeper_lanes(plan: Plan, journal: Journal) -> tuple[Bars, ...]:
    servers = [node for node in plan.topology.nodes if "zookeeper" in node.roles]
    controlled = servers and load_file(plan.target.partition(":")[0]).dialect.has_controllers
    return (*(_server(node, journal) for node in servers), *([_holder(plan, journal)] if controlled else []))


def staleness_lanes(journal: Journal) -> tuple[Rows, ...]:
    """Return a row for each broker that answered with outdated metadata."""
    rows: dict[str, list[StaleAnswers]] = {}
    for stale in measure(journal):
        rows.setdefault(stale.node, []).append(stale)
    if not rows:
        return ()
    named = tuple((node.removeprefix("node-"), _old(intervals)) for node, intervals in sorted(rows.items()))
    return (Rows("outdated", "metadata from", named),)


def _old(intervals: list[StaleAnswers]) -> tuple[Segment, ...]:
    return tuple(
        Segment(
            each.begun,
            each.ended,
            "stale",
            (f"up to {each.age:.1f} s old", f"{each.age:.1f} s"),
            f"{each.node} answers with metadata up to {each.age:.2f} s old: {each.what}",
        )
        for each in intervals
    )


def _server(node: NodeSpec, journal: Journal) -> Bars:
    changes = [*process_changes(node, journal), *_mode(node, journal)]
    return Bars(
        name=node.name,
        note="ZooKeeper",
        segments=sweep(changes, journal.duration, _draw_server),
        marks=tuple(node_marks(node, journal)),
        strip=answers_strip(node, journal),
    )


def _mode(node: NodeSpec, journal: Journal) -> Iterator[Change]:
    """Yield the mode of a server: none while it accepts no sessions, unknown before the first request to it."""
    for event in journal.of("state"):
        if event.node == node.name and event.data.get("what") == "answer":
            yield event.t, "observed", True
        if event.node == node.name and event.data.get("what") == "server":
            yield event.t, "mode", event.data["mode"] or None


def _draw_server(state: Mapping[str, Any]) -> Segment | None:
    match state.get("process"), state.get("mode"):
        case None, _:
            return None
        case "paused", _:
            return Segment(0, 0, "paused", ("paused",), "stopped by SIGSTOP")
        case "starting", None:
            return Segment(0, 0, "starting", ("starting",), "started, not ready yet")
        case _, None if "observed" not in state:
            return Segment(0, 0, "standby", (), "runs, not observed yet")
        case _, None:
            return Segment(0, 0, "fenced", ("no quorum",), "runs and accepts no sessions: it sees no quorum")
        case _, "follower" | "observer" as mode:
            return Segment(0, 0, "standby", (mode,), f"serves as {mode}")
        case _, mode:
            label = "leads the ensemble" if mode == "leader" else "standalone"
            return Segment(0, 0, "ensemble", (label, str(mode)), f"serves as {mode}")


def _holder(plan: Plan, journal: Journal) -> Bars:
    """Return the lane of the broker that holds /controller, with its epoch; unknown while no server answers."""
    names = {node.id: node.name for node in plan.topology.nodes if "broker" in node.roles and node.duplicate_of is None}
    changes: list[Change] = []
    for event in journal.of("state"):
        if event.node:
            continue
        if event.data.get("what") == "controller":
            held = event.data["active"] >= 0
            changes.append((event.t, "epoch", event.data["epoch"] if held else None))
            holder = event.data.get("node") or names.get(event.data["active"], "?")
            changes.append((event.t, "holder", holder if held else None))
            changes.append((event.t, "seen", True))
        elif event.data.get("what") == "ensemble":
            changes.append((event.t, "silent", None if event.data["answers"] else True))

    def draw(state: Mapping[str, Any]) -> Segment | None:
        if "silent" in state:
            return Segment(
                0, 0, "silent", ("no server answers",), "no ZooKeeper server answers: the controller is unknown"
            )
        if "holder" in state:
            holder, epoch = state["holder"], state["epoch"]
            return Segment(
                0, 0, "controller", (f"{holder} · epoch {epoch}", holder), f"{holder} is the controller, epoch {epoch}"
            )
        return Segment(0, 0, "starting", ("none",), "no broker holds /controller") if "seen" in state else None

    return Bars("controller", "holds /controller", sweep(changes, journal.duration, draw))
