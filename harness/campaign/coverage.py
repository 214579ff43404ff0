"""The nodes that faults met, with their roles and states, as the journals show them when the fault hit.

A node's role is the one that was decided last by then (the controllers' log, or ZooKeeper). Its state is that of its
process and of its answers. A fault of links meets the nodes at both ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.harness.plan.model import NodeSpec, Plan
from fencepost.results.records.events import Event
from fencepost.results.records.fault_targets import FaultTargets
from fencepost.results.records.journal import Journal


@dataclass(frozen=True, order=True)
class Meeting:
    """A proven fault met a node in this role and this state."""

    fault: str
    role: str
    state: str


@dataclass(frozen=True)
class Hit:
    """A node that a fault was ordered to hit, its role and its state at that time."""

    node: str
    role: str
    state: str


@dataclass(frozen=True)
class OrderedFault:
    """A fault as its intent has it, and the nodes that it hit. `cluster` is the state of the whole cluster then."""

    intent: Event
    hits: tuple[Hit, ...]
    cluster: str


@dataclass
class _NodeState:
    """The known state of one node. `process` is its last event, `answer` its state by the last probe."""

    spec: NodeSpec
    process: str = "never started"
    answer: str = "unknown"
    mode: str = ""
    """The mode of a ZooKeeper server."""
    ended: bool = False
    returned: bool = False
    """It was started again, or went on, since it was last seen in every ISR that it belongs to."""


@dataclass
class _ClusterState:
    """The cluster as the journal has shown it so far."""

    nodes: Mapping[str, _NodeState]
    partitions: dict[tuple[str, int], Event] = field(default_factory=dict)
    largest: dict[tuple[str, int], int] = field(default_factory=dict)
    """By partition: the size of the largest ISR so far."""
    registered: dict[int, str] = field(default_factory=dict)
    controllers: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By node: the epoch and the id of the controller that it names active."""
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

    def _state(self, event: Event, node: _NodeState | None) -> None:
        data = event.data
        match data.get("what"):
            case "partition" if event.node is None:
                at = data["topic"], data["partition"]
                self.partitions[at] = event
                self.largest[at] = max(self.largest.get(at, 0), len(data["isr"]))
            case "partition-gone" if event.node is None:
                self.partitions.pop((data["topic"], data["partition"]), None)
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
        """Yield every role that the node has now, and its state in it."""
        node = self.nodes.get(name)
        if node is None:
            yield "client site", "working"
        elif node.spec.duplicate_of is not None:
            yield "duplicate", self._process(node) or "running"
        elif "zookeeper" in node.spec.roles:
            role = "ZooKeeper leader" if node.mode in ("leader", "standalone") else "ZooKeeper follower"
            yield role, self._process(node) or _answering(node)
        elif "controller" in node.spec.roles:
            role = "active controller" if self._is_active(node.spec.quorum_id) else "standby controller"
            yield role, self._process(node) or _answering(node)
            if "broker" in node.spec.roles:
                yield from self._broker(name, node)
        else:
            yield from self._broker(name, node)

    def _broker(self, name: str, node: _NodeState) -> Iterator[tuple[str, str]]:
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

    def _serving(self, node: _NodeState, catching_up: bool) -> str:
        if self.registered.get(node.spec.id) in ("fenced", "gone", "inactive"):
            return "fenced"
        if node.answer != "serving":
            return "not serving"
        return "catching up" if catching_up else "serving"

    def _process(self, node: _NodeState) -> str | None:
        """Return the state of the process itself; None if it runs and has answered."""
        if node.process in ("killed", "exited", "stopped", "never started"):
            return "dead"
        if node.process == "paused":
            return "paused"
        if node.process in ("intent", "started") and node.answer == "unknown":
            return "starting"
        return None

    def whole(self) -> str:
        """Return the state of the cluster: the worst that a partition is in, in the eyes of its log or znodes."""
        if not self.partitions:
            return "unknown"
        if any(view.data["leader"] < 0 for view in self.partitions.values()):
            return "leaderless"
        short = (len(each.data["isr"]) < self._replicas(at, each) for at, each in self.partitions.items())
        return "under-replicated" if any(short) else "whole"

    def _replicas(self, at: tuple[str, int], view: Event) -> int:
        """Return the replicas that a partition has; where the event does not tell, the largest ISR that it had."""
        return len(view.data.get("replicas") or ()) or self.largest[at]

    def _is_active(self, id: int) -> bool:
        _, active = max(self.controllers.values(), default=(-1, -1))
        return active == id


def _answering(node: _NodeState) -> str:
    return "serving" if node.answer in ("serving", "standby") else "not serving"


def meetings(plan: Plan, journal: Journal) -> list[Meeting]:
    """Return one meeting for each proven fault, node and role. Linear in the journal."""
    ordered = ordered_faults(plan, journal)
    found: list[Meeting] = []
    for event in journal.of("fault", "proven"):
        if (fault := ordered.pop(event.id, None)) is not None:
            found += [Meeting(fault.intent.data["fault"], hit.role, hit.state) for hit in fault.hits]
    return found


def ordered_faults(plan: Plan, journal: Journal) -> dict[str, OrderedFault]:
    """Return all faults that were ordered, by their names in the journal. Linear in the journal."""
    sight = _ClusterState({node.name: _NodeState(node) for node in plan.topology.nodes})
    found: dict[str, OrderedFault] = {}
    for event in journal.events:
        if event.type != "fault":
            sight.take(event)
        elif event.phase == "intent":
            nodes = sorted(FaultTargets.of(event.data).touched)
            hits = (Hit(name, *pair) for name in nodes for pair in sight.meet(name))
            found[event.id] = OrderedFault(event, tuple(hits), sight.whole())
    return found


def table(found: list[Meeting]) -> list[dict[str, Any]]:
    """Return the counted meetings, for `summary.json`."""
    return [
        {"fault": meeting.fault, "role": meeting.role, "state": meeting.state, "times": times}
        for meeting, times in sorted(Counter(found).items())
    ]
