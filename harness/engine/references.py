"""Resolve the references and values of a plan to nodes and numbers, as things are now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from fencepost.harness.clients.metadata.image import BrokerEntry, PartitionEntry
from fencepost.harness.clients.views import Observation, active_controller
from fencepost.harness.engine.errors import StepError, UnresolvedRole
from fencepost.harness.plan.base import NodeRefs, Value
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.internal_topics import COORDINATORS, GROUP_COORDINATOR
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.promises import Promises
from fencepost.harness.plan.refs import refs

RESOLVE_WITHIN = 3.0
"""Seconds that a role may be unresolved (no leader yet) before a step that needs it fails."""

Result = TypeVar("Result")


def coordinator_roles(plan: Plan) -> frozenset[str]:
    """Return the roles of coordinators that the workload of a plan has, and those that its steps name."""
    named = {ref for step in plan.steps for _, ref in refs(step) if ref.partition(":")[0] in COORDINATORS}
    groups = {f"{GROUP_COORDINATOR}:{group}" for group in plan.groups}
    return frozenset(named | groups | {f"transaction-coordinator:{id}" for id in plan.transactional_ids})


def _java_hash(text: str) -> int:
    """Return the hash of a text as Java counts it, from -2**31 to 2**31 - 1."""
    value = 0
    for unit in text:
        value = (31 * value + ord(unit)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


class ObservationSource(Protocol):
    """The latest observation of the cluster."""

    @property
    def now(self) -> Observation: ...


class Waiter(Protocol):
    """Waiter within a run."""

    def wait(self, condition: Callable[[], bool], deadline: float) -> bool: ...


@dataclass
class References:
    """The roles of one plan. `bound` holds the nodes and numbers that `bind` steps have named."""

    plan: Plan
    dialect: Dialect
    observations: ObservationSource
    clock: Waiter
    promises: Promises = field(default_factory=Promises)
    bound: dict[str, str | int] = field(default_factory=dict)
    redirects: bool = False
    """Clients follow a broker that names the controller in place of an answer."""
    finds_coordinators: bool = False
    """Coordinators are those that brokers name, and not the leaders of Kafka's internal topics."""

    @property
    def now(self) -> Observation:
        return self.observations.now

    @property
    def uses_zookeeper(self) -> bool:
        """Return whether the cluster keeps its state in ZooKeeper, and not in a log of the controllers."""
        return any("zookeeper" in node.roles for node in self.plan.topology.nodes)

    def nodes(self, refs: NodeRefs | None) -> tuple[str, ...]:
        """Return the nodes that references resolve to, each once. Wait up to RESOLVE_WITHIN for an unresolved role."""
        return self.once_resolved(lambda: self.nodes_now(refs))

    def node(self, ref: str) -> str:
        """Return the one node that a reference resolves to. Wait as `nodes` does; raise StepError unless it is one."""
        nodes = self.nodes(ref)
        if len(nodes) != 1:
            raise StepError(f"`{ref}` matches {', '.join(nodes) or 'no node'}; expected exactly one")
        return nodes[0]

    def nodes_now(self, refs: NodeRefs | None) -> tuple[str, ...]:
        """Return what `nodes` returns, without waiting. Raise UnresolvedRole if a role is unresolved."""
        single = (refs,) if isinstance(refs, str) else refs or ()
        return tuple(dict.fromkeys(node for ref in single for node in self._resolve(ref)))

    def id(self, ref: str) -> int:
        """Return the id of the one node that a reference resolves to."""
        return self.plan.node(self.node(ref)).id

    def ids_now(self, refs: NodeRefs | None) -> frozenset[int]:
        """Return the ids of the nodes that references resolve to now."""
        return frozenset(self.plan.node(name).id for name in self.nodes_now(refs))

    def number(self, value: Value, what: str, current: Callable[[], int]) -> int:
        """Return the number that a plan's value stands for; `what` names it in errors.

        Raise StepError if the value is bound to a node, or is `stale` while there is only one epoch so far.
        """
        if isinstance(value, int):
            return value
        if value.startswith("$"):
            bound = self.bound_value(value)
            if not isinstance(bound, int):
                raise StepError(f"`{value}` is the node {bound}, but {what} is a number")
            return bound
        now = self.once_resolved(current)
        if value == "current":
            return now
        if now <= 0:
            raise StepError(f"{what} is {now}: there is no earlier one to send as stale")
        return now - 1

    def value(self, claim: Any) -> Any:
        """Return what a plan claims: a text `$name` stands for what is bound to it, also in lists and mappings."""
        match claim:
            case str() if claim.startswith("$"):
                return self.bound_value(claim)
            case Mapping():
                return {key: self.value(item) for key, item in claim.items()}
            case list() | tuple():
                return [self.value(item) for item in claim]
        return claim

    def bound_value(self, ref: str) -> str | int:
        """Return what `$name` stands for. Raise StepError if the step that binds it got no such value."""
        name = ref.removeprefix("$")
        if name not in self.bound:
            raise StepError(f"`{ref}` stands for nothing: the step that binds it got no answer with such a value")
        return self.bound[name]

    def broker_entry(self, node: str) -> BrokerEntry:
        """Return the broker's registration. Raise UnresolvedRole if it was never registered."""
        entry = self.now.image.brokers.get(self.plan.node(node).id)
        if entry is None:
            raise UnresolvedRole(f"{node} was never registered")
        return entry

    def partition_entry(self, partition: str) -> PartitionEntry:
        """Return the partition's decided state. Raise UnresolvedRole if there is none."""
        entry = self.now.image.partitions.get(partition)
        if entry is None:
            if not self.dialect.shows_decisions:
                raise UnresolvedRole(f"no broker describes {partition}")
            raise UnresolvedRole(f"{partition} is not in {'ZooKeeper' if self.uses_zookeeper else 'the metadata log'}")
        return entry

    def broker_epoch(self, value: Value, node: str) -> int:
        """Return the broker epoch of `node` that a plan's value stands for."""
        return self.number(value, f"the broker epoch of {node}", lambda: self.broker_entry(node).epoch)

    def leader_epoch(self, value: Value, partition: str) -> int:
        """Return the leader epoch of `partition` that a plan's value stands for."""
        return self.number(
            value, f"the leader epoch of {partition}", lambda: self.partition_entry(partition).leader_epoch
        )

    def isr_version(self, value: Value, partition: str) -> int:
        """Return the version of the ISR of `partition` that a plan's value stands for."""
        return self.number(value, f"the ISR version of {partition}", lambda: self.partition_entry(partition).version)

    def controller_epoch(self, value: Value) -> int:
        """Return the controller epoch that a plan's value stands for."""
        return self.number(value, "the controller epoch", self.current_controller_epoch)

    def current_controller_epoch(self) -> int:
        """Return the epoch of the active controller. Raise UnresolvedRole if there is none."""
        return self.now.controllers[self.active_controller()].epoch

    def active_controller(self) -> str:
        """Return the active controller: in a cluster with ZooKeeper the broker that holds /controller.

        Raise UnresolvedRole if there is none now, StepError if the design has no controller.
        """
        if not self.dialect.has_controllers:
            raise StepError(f"{self.plan.target} has no controller: each partition's leader decides alone")
        if self.uses_zookeeper:
            node = next(iter(self.now.controllers), None)
        else:
            node = active_controller(self.now, self._names("controller"))
        if node is not None:
            return node
        if not self.now.news:
            raise UnresolvedRole("no ZooKeeper server answers")
        raise UnresolvedRole(
            "no broker holds /controller" if self.uses_zookeeper else "no controller says that it is active"
        )

    def check_news(self) -> None:
        """Raise UnresolvedRole while the decided state is unknown: no active controller, or no ZooKeeper server."""
        if self.dialect.has_controllers:
            self.active_controller()
        elif not self.now.news:
            raise UnresolvedRole("no ZooKeeper server answers")

    def once_resolved(self, result: Callable[[], Result]) -> Result:
        """Return `result()` as soon as it does not raise UnresolvedRole; raise that after RESOLVE_WITHIN seconds."""
        results: list[Result] = []

        def is_resolved() -> bool:
            try:
                results.append(result())
            except UnresolvedRole:
                return False
            return True

        return results[0] if self.clock.wait(is_resolved, time.monotonic() + RESOLVE_WITHIN) else result()

    def _resolve(self, ref: str) -> Iterable[str]:
        if ref.startswith("$"):
            return (str(self.bound_value(ref)),)
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
            case "standby-controller":
                return (self._standby_controller(),)
            case "leader":
                entry = self.partition_entry(partition)
                if entry.leader < 0:
                    raise UnresolvedRole(f"{partition} has no leader")
                return (self._processes()[entry.leader],)
            case "coordinator" | "transaction-coordinator" if self.finds_coordinators:
                if (named := self._processes().get(self.now.coordinators.get(ref, -1))) is None:
                    raise UnresolvedRole(f"no broker names the {role} of {partition}")
                return (named,)
            case "coordinator" | "transaction-coordinator":
                return self._resolve(f"leader:{self._coordinating_partition(COORDINATORS[role], partition)}")
            case "followers":
                entry = self.partition_entry(partition)
                names = self._processes()
                return tuple(names[id] for id in entry.replicas if id != entry.leader)
            case _:
                return (ref,)

    def _coordinating_partition(self, topic: str, key: str) -> str:
        """Return the partition whose leader keeps the state of a group or a transactional id.

        It is chosen by the hash of the name (`String.hashCode` of Java), as every client and broker does.
        """
        count = sum(partition.rpartition("-")[0] == topic for partition in self.now.image.partitions)
        if count == 0:
            raise UnresolvedRole(f"{topic} does not exist yet: no client has asked for it")
        return f"{topic}-{abs(_java_hash(key)) % count}"

    def _zookeeper_leader(self) -> str:
        for name, server in self.now.servers.items():
            if server.leads:
                return name
        raise UnresolvedRole("no ZooKeeper server says that it leads")

    def _processes(self) -> dict[int, str]:
        """Return the brokers' names by id; a duplicate's name if ZooKeeper holds the registration of the duplicate."""
        ids = {node.name: node.id for node in self.plan.topology.nodes if "broker" in node.roles}
        registered = {id: entry.process(ids) for id, entry in self.now.image.brokers.items()}
        return self._names("broker") | {id: name for id, name in registered.items() if name is not None}

    def _standby_controller(self) -> str:
        """Return the first controller of the plan that is not active. Raise UnresolvedRole if there is none."""
        active = self.active_controller()
        other = next((name for name in self._names("controller").values() if name != active), None)
        if other is None:
            raise UnresolvedRole(f"{active} is the only controller")
        return other

    def _names(self, role: Literal["controller", "broker", "zookeeper"]) -> dict[int, str]:
        """Return node names by id, without duplicates: a plan names these by their own names."""
        nodes = self.plan.topology.nodes
        return {
            node.quorum_id if role == "controller" else node.id: node.name
            for node in nodes
            if role in node.roles and node.is_original
        }
