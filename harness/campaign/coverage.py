"""Which fault met whom, in which state: read from the journals of the runs, as they saw it when the fault hit.

A node's role is what had been decided last by then (the controllers' log, or ZooKeeper), its state what its process was
and what it answered. A fault of links meets the nodes at both ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.plan.model import NodeSpec, Plan
from results.records.events import Event
from results.records.journal import Journal


@dataclass(frozen=True, order=True)
class Meeting:
    """A proven fault met a node in this role and this state."""

    fault: str
    role: str
    state: str


@dataclass
class _Node:
    """What is known of one node. `process` is the last that happened to it, `answer` how it took the last question."""

    spec: NodeSpec
    process: str = "never started"
    answer: str = "unknown"
    mode: str = ""
    """Of a ZooKeeper server."""
    ended: bool = False
    returned: bool = False
    """It was started again, or went on, since it was last seen in every ISR that it belongs to."""


@dataclass
class _Sight:
    """The cluster as the journal has shown it so far."""

    nodes: Mapping[str, _Node]
    partitions: dict[tuple[str, int], Event] = field(default_factory=dict)
    registered: dict[int, str] = field(default_factory=dict)
    controllers: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By node: whom it names active, and at which epoch."""
    holder: str | None = None
    """The broker that holds /controller."""

    def take(self, event: Event) -> None:
        node = self.nodes.get(event.node or event.id)
        if event.type == "node" and node is not None:
            node.process = event.phase
            node.answer = "unknown" if event.phase in ("started", "killed", "exited") else node.answer
            node.ended |= event.phase in ("killed", "exited", "stopped", "paused")
            node.returned |= node.ended and event.phase in ("started", "resumed")
        elif event.type == "state":
            self._state(event, node)

    def _state(self, event: Event, node: _Node | None) -> None:
        data = event.data
        match data.get("what"):
            case "partition" if event.node is None:
                self.partitions[data["topic"], data["partition"]] = event
            case "broker":
                self.registered[data["id"]] = data["state"]
            case "answer" if node is not None:
                node.answer = data["state"]
            case "server" if node is not None:
                node.mode = data["mode"]
            case "controller" if event.node is not None:
                self.controllers[event.node] = (data["epoch"], data["active"])
            case "controller":
                self.holder = data.get("node") if data["active"] >= 0 else None

    def meet(self, name: str) -> Iterator[tuple[str, str]]:
        """Every role that the node has now, and its state in it."""
        node = self.nodes.get(name)
        if node is None:
            yield "client site", "working"
        elif node.spec.duplicate_of is not None:
            yield "duplicate", self._process(node) or "running"
        elif "zookeeper" in node.spec.roles:
            role = "ZooKeeper leader" if node.mode in ("leader", "standalone") else "ZooKeeper follower"
            yield role, self._process(node) or _answering(node)
        elif "controller" in node.spec.roles:
            role = "active controller" if self._is_active(node.spec.id) else "standby controller"
            yield role, self._process(node) or _answering(node)
        else:
            yield from self._broker(name, node)

    def _broker(self, name: str, node: _Node) -> Iterator[tuple[str, str]]:
        id, roles = node.spec.id, set()
        for view in self.partitions.values():
            data = view.data
            if data["leader"] == id:
                roles.add("leader")
            elif id in data["isr"]:
                roles.add("ISR member")
            elif id in data.get("replicas", ()):
                roles.add("replica not in ISR")
        if self.holder == name:
            roles.add("active controller")
        catching_up = "replica not in ISR" in roles and node.returned
        if node.returned and not catching_up:
            node.ended = node.returned = False
        state = self._process(node) or self._serving(node, catching_up)
        for role in sorted(roles) or ["broker without replicas"]:
            yield role, state

    def _serving(self, node: _Node, catching_up: bool) -> str:
        if self.registered.get(node.spec.id) in ("fenced", "gone", "inactive"):
            return "fenced"
        if node.answer != "serving":
            return "not serving"
        return "catching up" if catching_up else "serving"

    def _process(self, node: _Node) -> str | None:
        """What the process itself is in the middle of; None: it runs and has answered."""
        if node.process in ("killed", "exited", "stopped", "never started"):
            return "dead"
        if node.process == "paused":
            return "paused"
        if node.process in ("intent", "started") and node.answer == "unknown":
            return "starting"
        return None

    def _is_active(self, id: int) -> bool:
        _, active = max(self.controllers.values(), default=(-1, -1))
        return active == id


def _answering(node: _Node) -> str:
    return "serving" if node.answer in ("serving", "standby") else "not serving"


def meetings(plan: Plan, journal: Journal) -> list[Meeting]:
    """One for each proven fault, node and role. Linear in the journal."""
    sight = _Sight({node.name: _Node(node) for node in plan.topology.nodes})
    aimed: dict[str, Event] = {}
    met: dict[str, list[Meeting]] = {}
    found: list[Meeting] = []
    for event in journal.events:
        if event.type != "fault":
            sight.take(event)
        elif event.phase == "intent":
            aimed[event.id] = event
            fault = event.data["fault"]
            pairs = (pair for name in sorted(nodes_of(event.data)) for pair in sight.meet(name))
            met[event.id] = [Meeting(fault, role, state) for role, state in pairs]
        elif event.phase == "proven":
            found += met.pop(event.id, [])
    return found


def nodes_of(data: Mapping[str, Any]) -> frozenset[str]:
    """Whom the intent of a fault names: nodes, or the ends of links."""
    named = {str(name) for name in data.get("nodes", ())}
    named |= {str(data["node"])} if "node" in data else set()
    named |= {str(link[end]) for link in data.get("links", ()) for end in ("from", "to")}
    return frozenset(named)


def table(found: list[Meeting]) -> list[dict[str, Any]]:
    """Counted, for `summary.json`."""
    return [
        {"fault": meeting.fault, "role": meeting.role, "state": meeting.state, "times": times}
        for meeting, times in sorted(Counter(found).items())
    ]
