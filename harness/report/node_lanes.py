"""Lanes of controllers and brokers: whether the process lives, what it is, whom it leads, how it answers."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from harness.plan.model import NodeSpec, Plan
from harness.report.shapes import Bars, Change, Mark, Segment, sweep
from results.records.journal import Journal

_PROCESS = {"started": "starting", "ready": "up", "exited": None, "killed": None, "paused": "paused", "resumed": "up"}
_ANSWERS = {"serving": "served", "standby": "served", "refusing": "refused", "closed": "refused", "silent": "silent"}


def controller_lanes(plan: Plan, journal: Journal) -> tuple[Bars, ...]:
    nodes = [node for node in plan.topology.nodes if "controller" in node.roles]
    return tuple(_controller(node, journal) for node in nodes)


def broker_lanes(plan: Plan, journal: Journal) -> tuple[Bars, ...]:
    nodes = [node for node in plan.topology.nodes if "broker" in node.roles]
    return tuple(_broker(plan, node, journal) for node in nodes)


def _controller(node: NodeSpec, journal: Journal) -> Bars:
    return Bars(
        name=node.name,
        note="controller",
        segments=sweep([*_process(node, journal), *_activity(node, journal)], journal.duration, _draw_controller),
        marks=tuple(_marks(node, journal)),
        strip=_answers(node, journal),
    )


def _broker(plan: Plan, node: NodeSpec, journal: Journal) -> Bars:
    changes = list(_process(node, journal))
    if node.duplicate_of is None:
        topics = {topic.name for topic in plan.topics}
        changes += [*_registration(node, journal), *_leadership(node, topics, journal)]
    note = f"id {node.id}"
    if node.duplicate_of is not None:
        note = f"duplicate of {node.duplicate_of}, {node.directory} dir"
    return Bars(
        name=node.name,
        note=note,
        segments=sweep(changes, journal.duration, _draw_broker if node.duplicate_of is None else _draw_duplicate),
        marks=tuple(_marks(node, journal)),
        strip=_answers(node, journal),
    )


def _process(node: NodeSpec, journal: Journal) -> Iterator[Change]:
    for event in journal.of("node", *_PROCESS):
        if event.node == node.name:
            yield event.t, "process", _PROCESS[event.phase]


def _marks(node: NodeSpec, journal: Journal) -> Iterator[Mark]:
    for event in journal.of("node", "exited", "killed", "paused"):
        if event.node != node.name:
            continue
        label = {"killed": "× kill −9", "paused": "SIGSTOP"}.get(
            event.phase, f"× exit {event.data.get('exit_code', '')}"
        )
        yield Mark(event.t, event.phase, label, f"{node.name}: {label.strip('× ')} at {event.t:.2f} s")


def _answers(node: NodeSpec, journal: Journal) -> tuple[Segment, ...]:
    """How the node answered when it was asked, about ten times a second, while it had a process."""
    answers: list[Change] = [
        (event.t, "answer", event.data["state"])
        for event in journal.of("state")
        if event.node == node.name and event.data.get("what") == "answer"
    ]

    def draw(state: Mapping[str, Any]) -> Segment | None:
        answer = state.get("answer", "")
        if answer not in _ANSWERS or "process" not in state:
            return None
        return Segment(0, 0, _ANSWERS[answer], (), f"{node.name} asked directly: {answer}")

    return sweep([*_process(node, journal), *answers], journal.duration, draw)


def _activity(node: NodeSpec, journal: Journal) -> Iterator[Change]:
    """The epoch at which this node is active: as the newest view of anybody has it, and as it says itself."""
    newest = -1
    for event in journal.of("state"):
        data = event.data
        if event.node == node.name and data.get("what") == "answer" and data["state"] != "serving":
            yield event.t, "believes", None
        if data.get("what") != "controller":
            continue
        if data["epoch"] >= newest and data["active"] >= 0:
            newest = data["epoch"]
            yield event.t, "active", newest if data["active"] == node.id else None
        if event.node == node.name:
            yield event.t, "believes", data["epoch"] if data["active"] == node.id else None


def _draw_controller(state: Mapping[str, Any]) -> Segment | None:
    process, active, believes = state.get("process"), state.get("active"), state.get("believes")
    if process is None:
        return None
    if process == "paused":
        return Segment(0, 0, "paused", ("paused",), "stopped by SIGSTOP")
    if active is not None:
        return Segment(0, 0, "controller", (f"active · epoch {active}", f"epoch {active}"), f"active, epoch {active}")
    if believes is not None:
        tip = f"still names itself active, at epoch {believes}, while a newer one is known"
        return Segment(0, 0, "believes", (f"thinks it is active · epoch {believes}", f"epoch {believes}"), tip)
    if process == "starting":
        return Segment(0, 0, "starting", ("starting",), "started, not ready yet")
    return Segment(0, 0, "standby", (), "standby")


def _registration(node: NodeSpec, journal: Journal) -> Iterator[Change]:
    for event in journal.of("state"):
        data = event.data
        if data.get("what") == "broker" and data["id"] == node.id and data.get("node") in (node.name, None):
            yield event.t, "broker", data["state"]
            yield event.t, "epoch", data["epoch"]


def _leadership(node: NodeSpec, topics: Collection[str], journal: Journal) -> Iterator[Change]:
    """Which partitions of these topics the newest leader epoch gives to this broker."""
    newest: dict[str, int] = {}
    for event in journal.of("state"):
        data = event.data
        if data.get("what") != "partition" or data["topic"] not in topics:
            continue
        name = f"{data['topic']}-{data['partition']}"
        if data["leader_epoch"] >= newest.get(name, -1):
            newest[name] = data["leader_epoch"]
            yield event.t, f"leads {name}", data["leader_epoch"] if data["leader"] == node.id else None


def _draw_broker(state: Mapping[str, Any]) -> Segment | None:
    process, broker, epoch = state.get("process"), state.get("broker"), state.get("epoch")
    leads = {key.removeprefix("leads "): value for key, value in state.items() if key.startswith("leads ")}
    led = ", ".join(f"{name} (epoch {value})" for name, value in leads.items())
    registered = f"broker epoch {epoch}" if epoch is not None else "not registered"
    if process is None:
        return None
    if process == "paused":
        return Segment(0, 0, "paused", ("paused",), f"stopped by SIGSTOP; {registered}")
    if broker == "active" and leads:
        short = f"leads {len(leads)} partitions" if len(leads) > 1 else f"leads {led}"
        labels = (f"active · leads {led}", short, next(iter(leads)))
        return Segment(0, 0, "leader", labels, f"active, {registered}, leads {led}")
    if broker == "active":
        return Segment(0, 0, "active", (f"active · epoch {epoch}", "active"), f"active, {registered}")
    if broker in ("fenced", "gone"):
        label = "fenced" if broker == "fenced" else "lease gone"
        return Segment(0, 0, "fenced", (label,), f"{label}, {registered}" + (f"; still leads {led}" if led else ""))
    if process == "starting":
        return Segment(0, 0, "starting", ("starting",), "started, not ready yet")
    return Segment(0, 0, "starting", ("not active yet",), f"running, {registered}")


def _draw_duplicate(state: Mapping[str, Any]) -> Segment | None:
    """Which of two processes holds the id is not for the log to say: shown is that it runs, and how it answers."""
    match state.get("process"):
        case None:
            return None
        case "paused":
            return Segment(0, 0, "paused", ("paused",), "stopped by SIGSTOP")
        case _:
            return Segment(0, 0, "duplicate", ("runs with the same id", "same id"), "a second process with this id")
