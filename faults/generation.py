"""The types that random generation of faults needs: the cluster that is asked, the aim, and the fault that comes of it.

`fencepost.harness.campaign` implements the cluster and puts generated faults in order.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from fencepost.faults.parameters import MOVING, FaultParameters, NodeRefs, PlannedNode, names_in


class BreakableCluster(Protocol):
    """The facts about a cluster that a generator may ask for, before anything is broken."""

    @property
    def target_name(self) -> str: ...

    @property
    def brokers(self) -> Sequence[str]:
        """The brokers without duplicates."""

    @property
    def quorum(self) -> Sequence[str]:
        """The nodes whose majority decides: the controllers, or ZooKeeper's servers; none if they are not seen."""

    @property
    def quorum_role(self) -> str:
        """The reference to all of the quorum: `controllers` or `zookeeper`."""

    @property
    def holders(self) -> Sequence[str]:
        """The brokers that hold a partition."""

    @property
    def partitions(self) -> Sequence[str]:
        """`t-0`: all partitions."""

    def held_by(self, broker: str) -> Sequence[str]:
        """`t-0`: the partitions of which a broker holds a replica."""

    def replicas(self, partition: str) -> int:
        """Return the number of replicas of a partition."""

    @property
    def duplicate(self) -> PlannedNode | None:
        """The second process for the id of a broker, if the topology has one."""

    @property
    def several_dirs(self) -> bool:
        """True if brokers have several log directories."""

    @property
    def breakable(self) -> bool:
        """True if single operations on the brokers' disks can be made to fail."""

    @property
    def own_clocks(self) -> bool:
        """True if brokers, and controllers, have a wall clock of their own."""

    @property
    def uses_zookeeper(self) -> bool: ...

    @property
    def broker_is_controller(self) -> bool:
        """True if `active-controller` is one of the brokers."""

    @property
    def unheard_broker_stops_serving(self) -> bool:
        """True if a broker that no controller hears stops serving, so that clients look elsewhere. A broker of shipped
        Kafka serves on, with metadata as old as the cut."""

    @property
    def clients_read(self) -> bool:
        """True if consumers fetch from the site `main` for as long as the plan runs."""

    @property
    def lease_ms(self) -> int: ...


class HealOrder(IntEnum):
    """The order in which faults that overlap are healed: a stalled link cannot be released while an end of it is
    paused, and a process that starts again needs its links."""

    PAUSES = 0
    LINKS = 1
    MACHINES = 2
    """Disks, clocks, limits: a process meets them when it starts."""
    PROCESSES = 3


@dataclass(frozen=True)
class Resource:
    """A part of the cluster that one fault at a time can have: processes or links of a kind. `node` None: any node."""

    kind: str
    node: str | None = None

    def clashes(self, other: Resource) -> bool:
        return self.kind == other.kind and (self.node is None or other.node is None or self.node == other.node)


LINKS_AMONG_BROKERS = Resource("links among brokers")
LINKS_TO_QUORUM = Resource("links between brokers and quorum")
LINKS_AMONG_QUORUM = Resource("links among the quorum")
LINKS_OF_CLIENTS = Resource("links of clients")


@dataclass(frozen=True)
class Aim:
    """The aim of a fault: references of a plan, to `most` nodes at most. `side`: `brokers`, `quorum` or `clients`."""

    refs: NodeRefs
    most: int
    side: str
    named: tuple[str, ...] = ()
    """The nodes themselves, where they are named."""

    @property
    def partition(self) -> str | None:
        """The partition of `leader:t-0` and `followers:t-0`."""
        if isinstance(self.refs, str) and ":" in self.refs:
            return self.refs.partition(":")[2]
        return None

    @property
    def is_leader(self) -> bool:
        """True for `leader:t-0`."""
        return isinstance(self.refs, str) and self.refs.startswith("leader:")

    @property
    def text(self) -> str:
        return text_of(self.refs)

    @property
    def away_brokers(self) -> int:
        """The number of brokers, at most, that are away if all of the aim is."""
        return self.most if self.side == "brokers" else 0

    @property
    def away_quorum(self) -> int:
        """The number of quorum members, at most, that are away if all of the aim is."""
        return self.most if self.side == "quorum" else 0

    def processes(self) -> tuple[Resource, ...]:
        kind = f"processes of {self.side}"
        return tuple(Resource(kind, name) for name in self.named) or (Resource(kind),)


@dataclass(frozen=True)
class GeneratedFault:
    """One fault of a random plan, before it has a name and a moment."""

    parameters: FaultParameters
    aim: Aim
    heal_order: HealOrder
    resources: tuple[Resource, ...]
    title: str
    brokers: int = 0
    """The number of brokers, at most, that are away or apart from the others because of it."""
    quorum: int = 0
    """The same for the quorum."""
    stops_nodes: bool = False
    """Its nodes do nothing while it holds: dead, or stopped."""
    others_go_on: bool = False
    """Every design promises that the others go on while it holds, if no more is broken than may be."""
    fragile: bool = False
    """The data that a process stored may be gone for good. The cluster has to be whole before, and whole again before
    anything else is broken."""
    exclusive: bool = False
    """Nothing else is broken while it holds."""
    restart_when_healed: bool = False
    """Its nodes have to be restarted when it is healed."""
    needs_running_nodes: bool = False
    """It is injected and healed through processes that must not be paused then, as toxics on links are."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The references among its aims that lead to different nodes at different times."""
        return tuple(ref for ref in self.parameters.aims if ref.startswith(MOVING))

    @property
    def pauses(self) -> bool:
        return self.heal_order is HealOrder.PAUSES


def text_of(refs: NodeRefs) -> str:
    """Return references as a title names them."""
    return " and ".join(names_in(refs))


def one_broker(rng: random.Random, cluster: BreakableCluster) -> Aim:
    """Aim at one broker, by its role or its name."""
    choices = [Aim(f"leader:{rng.choice(cluster.partitions)}", 1, "brokers")] * 4
    name = rng.choice(cluster.brokers)
    choices += [Aim(name, 1, "brokers", (name,))] * 3
    if cluster.broker_is_controller:
        choices += [Aim("active-controller", 1, "brokers")] * 2
    return rng.choice(choices)


def one_holder(rng: random.Random, cluster: BreakableCluster) -> Aim:
    """Aim at one broker that holds at least one partition."""
    if rng.random() < 0.5 or not cluster.holders:
        return Aim(f"leader:{rng.choice(cluster.partitions)}", 1, "brokers")
    name = rng.choice(cluster.holders)
    return Aim(name, 1, "brokers", (name,))


def some_brokers(rng: random.Random, cluster: BreakableCluster) -> Aim:
    """Aim at one broker most of the time; else at the followers of a partition, two brokers by name, or all."""
    if len(cluster.brokers) == 1:
        return one_broker(rng, cluster)
    how = rng.choices(("one", "followers", "two", "all"), weights=(12, 2, 2, 1))[0]
    if how == "followers" and cluster.replicas(partition := rng.choice(cluster.partitions)) > 1:
        return Aim(f"followers:{partition}", cluster.replicas(partition) - 1, "brokers")
    if how == "two":
        names = tuple(sorted(rng.sample(cluster.brokers, 2)))
        return Aim(names, 2, "brokers", names)
    if how == "all":
        return Aim("brokers", len(cluster.brokers), "brokers", tuple(cluster.brokers))
    return one_broker(rng, cluster)


def some_of_quorum(rng: random.Random, cluster: BreakableCluster) -> Aim:
    """Aim at the leader of the quorum, or at one or more of its members by name."""
    how = rng.choices(("leading", "one", "two", "all"), weights=(6, 4, 1, 1))[0]
    if how == "leading":
        return _quorum_leader(cluster)
    if how == "two" and len(cluster.quorum) > 2:
        names = tuple(sorted(rng.sample(cluster.quorum, 2)))
        return Aim(names, 2, "quorum", names)
    if how == "all":
        return Aim(cluster.quorum_role, len(cluster.quorum), "quorum", tuple(cluster.quorum))
    name = rng.choice(cluster.quorum)
    return Aim(name, 1, "quorum", (name,))


def one_of_quorum(rng: random.Random, cluster: BreakableCluster) -> Aim:
    """Aim at the leader of the quorum, or at one of its members by name."""
    name = rng.choice(cluster.quorum)
    return _quorum_leader(cluster) if rng.random() < 0.5 else Aim(name, 1, "quorum", (name,))


def some_nodes(rng: random.Random, cluster: BreakableCluster) -> Aim:
    """Aim at some of the quorum, or more often at some brokers."""
    of_quorum = rng.random() < 0.3 and cluster.quorum
    return some_of_quorum(rng, cluster) if of_quorum else some_brokers(rng, cluster)


def _quorum_leader(cluster: BreakableCluster) -> Aim:
    return Aim("zookeeper-leader" if cluster.uses_zookeeper else "active-controller", 1, "quorum")
