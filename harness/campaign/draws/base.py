"""What all draws share: whom a fault is aimed at, and what one drawn fault takes from the cluster."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol

from faults.capabilities import Capability
from harness.campaign.ground import Ground
from harness.plan.base import NodeRefs
from harness.plan.injects import InjectStep
from harness.plan.injects.base import MOVING

AIMS = ("node", "nodes", "from_", "to")
"""The parameters that refer to nodes."""


class Undo(IntEnum):
    """The order in which faults that overlap are healed: a stalled link cannot be released while an end of it is
    paused, and a process that starts again needs its links."""

    PAUSES = 0
    LINKS = 1
    MACHINES = 2
    """Disks, clocks, limits: what a process meets when it starts."""
    PROCESSES = 3


@dataclass(frozen=True)
class Part:
    """What two faults cannot have at a time: processes (`nodes`) or links of a kind. `who` None: it may be any."""

    kind: str
    who: str | None = None

    def clashes(self, other: Part) -> bool:
        return self.kind == other.kind and (self.who is None or other.who is None or self.who == other.who)


@dataclass(frozen=True)
class Who:
    """The aim of a fault: references of a plan, to `most` nodes at most. `side`: `brokers` or `quorum`."""

    refs: NodeRefs
    most: int
    side: str
    named: tuple[str, ...] = ()
    """The nodes themselves, where they are named."""

    @property
    def partition(self) -> str | None:
        """Of `leader:t-0` and `followers:t-0`."""
        if isinstance(self.refs, str) and ":" in self.refs:
            return self.refs.partition(":")[2]
        return None

    @property
    def leads(self) -> bool:
        return isinstance(self.refs, str) and self.refs.startswith("leader:")

    @property
    def text(self) -> str:
        return self.refs if isinstance(self.refs, str) else " and ".join(self.refs)

    def processes(self) -> tuple[Part, ...]:
        kind = f"processes of {self.side}"
        return tuple(Part(kind, name) for name in self.named) or (Part(kind),)


@dataclass(frozen=True)
class Drawn:
    """One fault of a plan, before it has a name and a moment.

    `brokers`, `quorum`: so many of them, at most, are away or apart from the others because of it.
    """

    inject: type[InjectStep]
    params: Mapping[str, Any]
    who: Who
    undo: Undo
    parts: tuple[Part, ...]
    brokers: int = 0
    quorum: int = 0
    ends: bool = False
    """Its nodes do nothing while it holds: dead, or stopped."""
    goes_on: bool = False
    """Every design promises that the others go on while it holds, if no more is broken than may be."""
    fragile: bool = False
    """What a process stored may be gone for good. The cluster has to be whole before, and whole again before anything
    else is broken."""
    alone: bool = False
    """Nothing else is broken while it holds."""
    again: bool = False
    """Its nodes have to be restarted when it is healed."""
    stalls: bool = False
    """Something is held back or told that a paused process does not take: not to be ordered while one is."""
    title: str = ""

    @property
    def roles(self) -> tuple[str, ...]:
        """What of its aims leads to other nodes at other times."""
        aims = [self.params[key] for key in AIMS if key in self.params]
        refs = (ref for aim in aims for ref in ((aim,) if isinstance(aim, str) else aim))
        return tuple(ref for ref in refs if ref.startswith(MOVING))

    @property
    def pauses(self) -> bool:
        return self.undo is Undo.PAUSES


class Draw(Protocol):
    """Draws one kind of fault for a cluster; None if this cluster has nothing that it could hit."""

    def __call__(self, rng: random.Random, ground: Ground) -> Drawn | None: ...


@dataclass(frozen=True)
class Kind:
    """A kind of fault that plans draw: how often, and what it takes. `why_not` says for which targets it is no use."""

    name: str
    weight: int
    capability: Capability
    draw: Draw
    why_not: Mapping[str, str] = field(default_factory=dict)
    """By target, or for all of them (`EVERYWHERE`): a sentence why it is left out there."""


EVERYWHERE = "*"


def undrawn(rng: random.Random, ground: Ground) -> None:
    """Of a kind that is left out everywhere."""


def a_broker(rng: random.Random, ground: Ground) -> Who:
    """One broker, by its role or its name."""
    choices = [Who(f"leader:{rng.choice(ground.partitions)}", 1, "brokers")] * 4
    name = rng.choice(ground.brokers)
    choices += [Who(name, 1, "brokers", (name,))] * 3
    if ground.broker_is_controller:
        choices += [Who("active-controller", 1, "brokers")] * 2
    return rng.choice(choices)


def a_replica(rng: random.Random, ground: Ground) -> Who:
    """One broker that holds a partition at least."""
    if rng.random() < 0.5:
        return Who(f"leader:{rng.choice(ground.partitions)}", 1, "brokers")
    name = rng.choice(ground.holders)
    return Who(name, 1, "brokers", (name,))


def some_brokers(rng: random.Random, ground: Ground) -> Who:
    """One broker most of the time; else the followers of a partition, two by name, or all."""
    how = rng.choices(("one", "followers", "two", "all"), weights=(12, 2, 2, 1))[0]
    if how == "followers":
        partition = rng.choice(ground.partitions)
        return Who(f"followers:{partition}", _replicas(ground, partition) - 1, "brokers")
    if how == "two":
        names = tuple(sorted(rng.sample(ground.brokers, 2)))
        return Who(names, 2, "brokers", names)
    if how == "all":
        return Who("brokers", len(ground.brokers), "brokers", ground.brokers)
    return a_broker(rng, ground)


def some_of_the_quorum(rng: random.Random, ground: Ground) -> Who:
    """The one that leads it, or one or more by name."""
    leading = "zookeeper-leader" if ground.around_zookeeper else "active-controller"
    how = rng.choices(("leading", "one", "two", "all"), weights=(6, 4, 1, 1))[0]
    if how == "leading":
        return Who(leading, 1, "quorum")
    if how == "two" and len(ground.quorum) > 2:
        names = tuple(sorted(rng.sample(ground.quorum, 2)))
        return Who(names, 2, "quorum", names)
    if how == "all":
        return Who(ground.quorum_role, len(ground.quorum), "quorum", ground.quorum)
    name = rng.choice(ground.quorum)
    return Who(name, 1, "quorum", (name,))


def one_of_the_quorum(rng: random.Random, ground: Ground) -> Who:
    leading = "zookeeper-leader" if ground.around_zookeeper else "active-controller"
    name = rng.choice(ground.quorum)
    return Who(leading, 1, "quorum") if rng.random() < 0.5 else Who(name, 1, "quorum", (name,))


def anybody(rng: random.Random, ground: Ground) -> Who:
    return some_of_the_quorum(rng, ground) if rng.random() < 0.3 else some_brokers(rng, ground)


def _replicas(ground: Ground, partition: str) -> int:
    name, _, number = partition.rpartition("-")
    return next(len(topic.assignments[int(number)]) for topic in ground.topics if topic.name == name)
