"""What every step can reach, and how references and values of a plan become nodes and numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from harness.clients.metadata.image import BrokerEntry, PartitionEntry
from harness.clients.observer import RECHECK, Observer
from harness.clients.raw import RawConnection
from harness.clients.views import Observation, active_controller
from harness.clients.workload import Workload
from harness.cluster import Cluster
from harness.engine.keeper import FaultKeeper
from harness.engine.node_logs import NodeLogs
from harness.errors import InfrastructureError
from harness.network.layout import Listener
from harness.plan.base import After, NodeRefs, Value
from harness.plan.model import Plan
from harness.targets.target import Dialect
from results.records.journal import JournalWriter

RESOLVE_WITHIN = 3.0
"""Seconds that a role may be vacant (no leader yet) before a step that needs it is given up."""

Result = TypeVar("Result")


class StepError(Exception):
    """A step could not be done, so the rest of the story makes no sense: inconclusive, with this sentence."""


class Missed(StepError):
    """A condition that the rest of the story needs did not come true in time."""


class Vacant(StepError):
    """A reference leads to nobody, or a value is not known, at this moment."""


@dataclass
class Context:
    """One run in progress. `deadline` is monotonic; `instants` holds journal times by `name.phase`."""

    plan: Plan
    cluster: Cluster
    journal: JournalWriter
    observer: Observer
    workload: Workload
    keeper: FaultKeeper
    logs: NodeLogs
    deadline: float
    bound: dict[str, str | int] = field(default_factory=dict)
    instants: dict[str, float] = field(default_factory=dict)

    def nodes(self, refs: NodeRefs | None) -> tuple[str, ...]:
        """The nodes that references lead to now, each once; waits a little for a vacant role."""
        return self.patiently(lambda: self.nodes_now(refs))

    def node(self, ref: str) -> str:
        """The one node that a reference leads to now; waits a little for a vacant role."""
        found = self.nodes(ref)
        if len(found) != 1:
            raise StepError(f"`{ref}` leads to {', '.join(found) or 'nobody'}, and one node is wanted")
        return found[0]

    def nodes_now(self, refs: NodeRefs | None) -> tuple[str, ...]:
        """As `nodes`, at once. Vacant if a role is."""
        single = (refs,) if isinstance(refs, str) else refs or ()
        return tuple(dict.fromkeys(node for ref in single for node in self._resolve(ref)))

    def ids_now(self, refs: NodeRefs | None) -> frozenset[int]:
        return frozenset(self.plan.node(name).id for name in self.nodes_now(refs))

    def number(self, value: Value, what: str, current: Callable[[], int]) -> int:
        """A value of a plan; `what` names it in errors. `stale` of the first epoch there is does not exist."""
        if isinstance(value, int):
            return value
        if value.startswith("$"):
            bound = self.bound[value[1:]]
            if not isinstance(bound, int):
                raise StepError(f"`{value}` is the node {bound}; {what} is a number")
            return bound
        now = self.patiently(current)
        if value == "current":
            return now
        if now <= 0:
            raise StepError(f"{what} is {now}: there is no earlier one to send as stale")
        return now - 1

    @property
    def dialect(self) -> Dialect:
        return self.cluster.target.file.dialect

    def connect(self, node: str, listener: Listener, timeout: float) -> RawConnection:
        """A connection through the probe site's link, which no fault breaks. `raw.NoAnswer` if there is none."""
        endpoint = self.cluster.probe_address(node, listener)
        return RawConnection(endpoint.host, endpoint.port, timeout)

    def broker_entry(self, node: str) -> BrokerEntry:
        """The broker in the controllers' log, or in ZooKeeper. Vacant if it was never registered."""
        entry = self.now.image.brokers.get(self.plan.node(node).id)
        if entry is None:
            raise Vacant(f"{node} was never registered")
        return entry

    def partition_entry(self, partition: str) -> PartitionEntry:
        """The partition in the controllers' log, or in ZooKeeper. Vacant if there is none."""
        entry = self.now.image.partitions.get(partition)
        if entry is None:
            raise Vacant(f"{partition} is not in {'ZooKeeper' if self.in_zookeeper else 'the metadata log'}")
        return entry

    def active_controller(self) -> str:
        """Where ZooKeeper holds the state, any broker can be it: the one that holds /controller. StepError where there
        is no such thing."""
        if not self.dialect.has_controllers:
            raise StepError(f"{self.plan.target} has no controller: each partition's leader decides alone")
        if self.in_zookeeper:
            node = next(iter(self.now.controllers), None)
        else:
            node = active_controller(self.now, self._names("controller"))
        if node is not None:
            return node
        if not self.now.news:
            raise Vacant("no ZooKeeper server answers")
        raise Vacant("nobody holds /controller" if self.in_zookeeper else "no controller says that it is active")

    def check_news(self) -> None:
        """Vacant while nobody can say what was decided: without an active controller, or a server of ZooKeeper."""
        if self.dialect.has_controllers:
            self.active_controller()
        elif not self.now.news:
            raise Vacant("no ZooKeeper server answers")

    @property
    def in_zookeeper(self) -> bool:
        """What was decided is in ZooKeeper, not in a log of the controllers."""
        return any("zookeeper" in node.roles for node in self.plan.topology.nodes)

    @property
    def now(self) -> Observation:
        return self.observer.now

    def patiently(self, result: Callable[[], Result]) -> Result:
        """`result()` as soon as it is not Vacant."""
        found: list[Result] = []

        def there() -> bool:
            try:
                found.append(result())
            except Vacant:
                return False
            return True

        return found[0] if self.wait(there, time.monotonic() + RESOLVE_WITHIN) else result()

    def moment(self, after: After) -> float:
        """The instant in this process's monotonic time. StepError if it has not come."""
        if after.event not in self.instants:
            raise StepError(f"`{after.event}` has not happened")
        since_now = self.instants[after.event] + after.plus_ms / 1000 - self.journal.now()
        return time.monotonic() + since_now

    def wait(self, condition: Callable[[], bool], deadline: float, every: float = RECHECK) -> bool:
        """Until it holds; False when `deadline` has passed, InfrastructureError when the run's has, or at once when
        what carries the cluster is broken: then nothing that is waited for means anything."""

        def holds() -> bool:
            self.check_machinery()
            return condition()

        if self.observer.wait(holds, min(deadline, self.deadline), every):
            return True
        self.check_deadline()
        return False

    def check_machinery(self) -> None:
        """InfrastructureError if a Toxiproxy, or what else carries the cluster, is broken."""
        if broken := self.cluster.broken():
            raise InfrastructureError(broken[0])
        if self.keeper.lost is not None:
            raise self.keeper.lost

    def check_deadline(self) -> None:
        self.check_machinery()
        if time.monotonic() >= self.deadline:
            raise InfrastructureError(f"the run was not over after {self.plan.deadline_ms / 1000:g} s")

    def _resolve(self, ref: str) -> Iterable[str]:
        if ref.startswith("$"):
            return (str(self.bound[ref[1:]]),)
        role, _, partition = ref.partition(":")
        match role:
            case "controllers":
                return tuple(self._names("controller").values())
            case "brokers":
                return tuple(self._names("broker").values())
            case "zookeeper":
                return tuple(self._names("zookeeper").values())
            case "zookeeper-leader":
                return (self._zookeeper_leader(),)
            case "active-controller":
                return (self.active_controller(),)
            case "leader":
                entry = self.partition_entry(partition)
                if entry.leader < 0:
                    raise Vacant(f"{partition} has no leader")
                return (self._processes()[entry.leader],)
            case "followers":
                entry = self.partition_entry(partition)
                names = self._processes()
                return tuple(names[id] for id in entry.replicas if id != entry.leader)
            case _:
                return (ref,)

    def _zookeeper_leader(self) -> str:
        for name, server in self.now.servers.items():
            if server.leads:
                return name
        raise Vacant("no ZooKeeper server says that it leads")

    def _processes(self) -> dict[int, str]:
        """The brokers' names by id; where ZooKeeper tells that a duplicate registered, its name."""
        ids = {node.name: node.id for node in self.plan.topology.nodes if "broker" in node.roles}
        registered = {id: entry.process(ids) for id, entry in self.now.image.brokers.items()}
        return self._names("broker") | {id: name for id, name in registered.items() if name is not None}

    def _names(self, role: Literal["controller", "broker", "zookeeper"]) -> dict[int, str]:
        """Node names by id. A duplicate only ever stands under its own name."""
        nodes = self.plan.topology.nodes
        return {node.id: node.name for node in nodes if role in node.roles and node.duplicate_of is None}
