"""Lanes of controllers and brokers: process, role, registration, leaderships, responses, release and level."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from fencepost.harness.checkers.control import NewestViews, read_control
from fencepost.harness.plan.model import NodeSpec, Plan
from fencepost.harness.report.shapes import Bars, Change, Mark, Rows, Segment, sweep
from fencepost.results.records.journal import Journal

MOST_LED = 6
"""Partitions of a leader that are named; a broker may lead thousands."""
_SHADES = ("standby", "active", "leader")
"""From pale to dark, for releases and levels in the order of their appearance. Further ones share the last one."""
_PROCESS = {
    "started": "starting",
    "ready": "up",
    "exited": None,
    "killed": None,
    "paused": "paused",
    "resumed": "up",
    "stopping": "stopping",
    "stopped": None,
}
_MARKS = {"killed": "× kill −9", "paused": "SIGSTOP", "stopping": "SIGTERM", "stopped": ""}
_ANSWERS = {"serving": "served", "standby": "served", "refusing": "refused", "closed": "refused", "silent": "silent"}


def controller_lanes(plan: Plan, journal: Journal) -> tuple[Bars, ...]:
    nodes = [node for node in plan.topology.nodes if "controller" in node.roles]
    return tuple(_controller(node, journal) for node in nodes)


def broker_lanes(plan: Plan, journal: Journal) -> tuple[Bars, ...]:
    nodes = [node for node in plan.topology.nodes if "broker" in node.roles]
    newest = read_control(journal).newest()
    return tuple(_broker(plan, node, journal, newest) for node in nodes)


def _controller(node: NodeSpec, journal: Journal) -> Bars:
    changes = [*process_changes(node, journal), *_activity(node, journal)]
    return Bars(
        name=node.name,
        note="controller",
        segments=sweep(changes, journal.duration, _draw_controller),
        marks=tuple(node_marks(node, journal)),
        strip=answers_strip(node, journal),
    )


def _broker(plan: Plan, node: NodeSpec, journal: Journal, newest: NewestViews) -> Bars:
    """Return the lane of a broker. Only ZooKeeper shows whether a duplicate holds the registration."""
    changes = list(process_changes(node, journal))
    in_zookeeper = any("zookeeper" in each.roles for each in plan.topology.nodes)
    if node.duplicate_of is None or in_zookeeper:
        changes += [*_registration(node, journal, in_zookeeper), *_leadership(plan, node, newest)]
    note = f"id {node.id}" if node.front_end_of is None else f"front end of {node.front_end_of}"
    if node.duplicate_of is not None:
        note = f"duplicate of {node.duplicate_of}, {node.directory} dir"
    return Bars(
        name=node.name,
        note=note,
        segments=sweep(changes, journal.duration, _draw_broker if node.duplicate_of is None else _draw_duplicate),
        marks=tuple(node_marks(node, journal)),
        strip=answers_strip(node, journal),
    )


def process_changes(node: NodeSpec, journal: Journal) -> Iterator[Change]:
    for event in journal.of("node", *_PROCESS):
        if event.node == node.name:
            yield event.t, "process", _PROCESS[event.phase]


def node_marks(node: NodeSpec, journal: Journal) -> Iterator[Mark]:
    release = None
    for event in journal.of("node", *_MARKS, "exited", "started"):
        if event.node != node.name:
            continue
        if event.phase == "started":
            before, release = release, event.data.get("release")
            if before not in (None, release):
                yield Mark(event.t, "started", release, f"{node.name}: starts with {release} at {event.t:.2f} s")
            continue
        label = _MARKS.get(event.phase, f"× exit {event.data.get('exit_code', '')}")
        yield Mark(event.t, event.phase, label, f"{node.name}: {label.strip('× ')} at {event.t:.2f} s")


def answers_strip(node: NodeSpec, journal: Journal) -> tuple[Segment, ...]:
    """Return the answers to direct requests, sent about ten times a second, while the node had a process."""
    answers: list[Change] = [
        (event.t, "answer", event.data["state"])
        for event in journal.of("state")
        if event.node == node.name and event.data.get("what") == "answer"
    ]

    def draw(state: Mapping[str, Any]) -> Segment | None:
        answer = state.get("answer", "")
        if answer not in _ANSWERS or "process" not in state:
            return None
        return Segment(0, 0, _ANSWERS[answer], (), f"{node.name} answers a direct request: {answer}")

    return sweep([*process_changes(node, journal), *answers], journal.duration, draw)


def _activity(node: NodeSpec, journal: Journal) -> Iterator[Change]:
    """Yield the epoch at which the node is active, in the newest view of any node and in its own."""
    newest = -1
    for event in journal.of("state"):
        data = event.data
        if event.node == node.name and data.get("what") == "answer" and data["state"] != "serving":
            yield event.t, "believes", None
        if data.get("what") != "controller":
            continue
        if data["epoch"] >= newest and data["active"] >= 0:
            newest = data["epoch"]
            yield event.t, "active", newest if data["active"] == node.quorum_id else None
        if event.node == node.name:
            yield event.t, "believes", data["epoch"] if data["active"] == node.quorum_id else None


def _draw_controller(state: Mapping[str, Any]) -> Segment | None:
    process, active, believes = state.get("process"), state.get("active"), state.get("believes")
    if process is None:
        return None
    if process == "paused":
        return Segment(0, 0, "paused", ("paused",), "stopped by SIGSTOP")
    if active is not None:
        return Segment(0, 0, "controller", (f"active · epoch {active}", f"epoch {active}"), f"active, epoch {active}")
    if believes is not None:
        tip = f"still reports itself as active at epoch {believes}, though a newer epoch is known"
        return Segment(0, 0, "believes", (f"reports itself active · epoch {believes}", f"epoch {believes}"), tip)
    if process == "starting":
        return Segment(0, 0, "starting", ("starting",), "started, not ready yet")
    return Segment(0, 0, "standby", (), "standby")


def _registration(node: NodeSpec, journal: Journal, in_zookeeper: bool) -> Iterator[Change]:
    for event in journal.of("state"):
        data = event.data
        if data.get("what") != "broker" or data["id"] != node.id:
            continue
        holder = data.get("node")
        mine = holder in (node.name, None)
        yield event.t, "other", None if mine or data["state"] == "gone" else holder
        if mine:
            yield event.t, "broker", data["state"]
            yield event.t, "epoch", f"{data['epoch']:#x}" if in_zookeeper else data["epoch"]
            yield event.t, "in ZooKeeper", in_zookeeper or None
        elif data["state"] != "gone":
            yield event.t, "broker", None


def _leadership(plan: Plan, node: NodeSpec, newest: NewestViews) -> Iterator[Change]:
    """Yield the partitions of the plan's topics that this broker leads at their newest leader epoch."""
    for topic in plan.topics:
        for number in range(len(topic.assignments)):
            for view in newest.of((topic.name, number)):
                yield view.t, f"leads {topic.name}-{number}", view.leader_epoch if view.leader == node.id else None


def _draw_broker(state: Mapping[str, Any]) -> Segment | None:
    process, broker, epoch = state.get("process"), state.get("broker"), state.get("epoch")
    leads = {key.removeprefix("leads "): value for key, value in state.items() if key.startswith("leads ")}
    led = ", ".join(f"{name} (epoch {value})" for name, value in islice(leads.items(), MOST_LED))
    led += f" and {len(leads) - MOST_LED} more" if len(leads) > MOST_LED else ""
    registered = f"broker epoch {epoch}" if epoch is not None else "not registered"
    if "in ZooKeeper" in state:
        registered = f"registered by transaction {epoch} (czxid)"
    if process is None:
        return None
    if process == "paused":
        return Segment(0, 0, "paused", ("paused",), f"stopped by SIGSTOP; {registered}")
    if "other" in state:
        return Segment(0, 0, "fenced", (f"{state['other']} has its id",), f"its id is registered by {state['other']}")
    if broker == "active" and leads:
        short = f"leads {len(leads)} partitions" if len(leads) > 1 else f"leads {led}"
        labels = (f"active · leads {led}", short, next(iter(leads)))
        return Segment(0, 0, "leader", labels, f"active, {registered}, leads {led}")
    if broker == "active":
        return Segment(0, 0, "active", (f"active · epoch {epoch}", "active"), f"active, {registered}")
    if broker in ("fenced", "inactive", "gone"):
        label = ("not registered" if "in ZooKeeper" in state else "lease expired") if broker == "gone" else broker
        return Segment(0, 0, "fenced", (label,), f"{label}, {registered}" + (f"; still leads {led}" if led else ""))
    if process == "starting":
        return Segment(0, 0, "starting", ("starting",), "started, not ready yet")
    return Segment(0, 0, "starting", ("not active yet",), f"running, {registered}")


def _draw_duplicate(state: Mapping[str, Any]) -> Segment | None:
    """Draw only the process and its responses: a log cannot show which of two processes holds the id."""
    match state.get("process"):
        case None:
            return None
        case _ if state.get("broker") in ("active", "inactive"):
            return _draw_broker(state)
        case "paused":
            return Segment(0, 0, "paused", ("paused",), "stopped by SIGSTOP")
        case _:
            return Segment(0, 0, "duplicate", ("runs with the same id", "same id"), "a second process with this id")


def level_lanes(plan: Plan, journal: Journal) -> tuple[Rows, ...]:
    """Return a row for each broker, or none if all ran at one level all the time."""
    return _version_lanes(plan, journal, "level", "runs at the level")


def release_lanes(plan: Plan, journal: Journal) -> tuple[Rows, ...]:
    """Return a row for each node, or none if all ran one release all the time."""
    return _version_lanes(plan, journal, "release", "runs the release")


def _version_lanes(plan: Plan, journal: Journal, key: str, runs: str) -> tuple[Rows, ...]:
    starts = [event for event in journal.of("node", "started") if event.data.get(key)]
    values = list(dict.fromkeys(str(event.data[key]) for event in starts))
    if len(values) < 2:
        return ()

    def draw(state: Mapping[str, Any]) -> Segment | None:
        if "process" not in state or key not in state:
            return None
        value = state[key]
        return Segment(0, 0, _SHADES[min(values.index(value), 2)], (value,), f"{runs} {value}")

    rows = []
    for node in plan.topology.nodes:
        changes: list[Change] = [(event.t, key, event.data[key]) for event in starts if event.node == node.name]
        if changes:
            segments = sweep([*process_changes(node, journal), *changes], journal.duration, draw)
            rows.append((node.name.removeprefix("node-"), segments))
    return (Rows(key, "of each process", tuple(rows)),)
