"""Draws of identity: who claims what is not its own."""

from __future__ import annotations

import random
from typing import Any

from faults.capabilities import Capability
from harness.campaign.draws.base import Drawn, Kind, Part, Undo, Who, a_broker
from harness.campaign.ground import Ground
from harness.plan.injects import InjectChangedId, InjectDuplicate, InjectForeignCluster, InjectStep, InjectSwapped

ENDS_AT_ONCE = "a second process with the id ends at once (AZ-02), so nothing could be measured of it"


def duplicate(rng: random.Random, ground: Ground) -> Drawn | None:
    """Where the newcomer takes the id, what it stored is gone with it when it is ended: fragile. Around ZooKeeper it
    waits for the id, and an elder whose session ends meanwhile has lost it for good and ends: alone."""
    newcomer = ground.duplicate
    if newcomer is None or newcomer.duplicate_of is None:
        return None
    return Drawn(
        inject=InjectDuplicate,
        params={"node": newcomer.name},
        who=Who(newcomer.name, 1, "brokers", (newcomer.name,)),
        undo=Undo.PROCESSES,
        parts=(Part("processes of duplicates"),),
        brokers=1,
        fragile=True,
        alone=ground.around_zookeeper,
        title=f"a duplicate of {newcomer.duplicate_of} ({newcomer.directory} directory)",
    )


def swapped(rng: random.Random, ground: Ground) -> Drawn:
    names = tuple(sorted(rng.sample(ground.brokers, 2)))
    who = Who(names, 2, "brokers", names)
    return _misled(InjectSwapped, who, {"nodes": names}, f"{who.text} have each other's directory")


def foreign_cluster(rng: random.Random, ground: Ground) -> Drawn:
    who = a_broker(rng, ground)
    return _misled(InjectForeignCluster, who, {"node": who.refs}, f"{who.text} belongs to another cluster")


def changed_id(rng: random.Random, ground: Ground) -> Drawn:
    who = a_broker(rng, ground)
    return _misled(InjectChangedId, who, {"node": who.refs}, f"{who.text} has an id that nobody has")


def _misled(inject: type[InjectStep], who: Who, params: dict[str, Any], title: str) -> Drawn:
    """Whether it ends or goes on, it is killed, misled and started again, and so when it is healed: alone."""
    return Drawn(
        inject=inject,
        params=params,
        who=who,
        undo=Undo.PROCESSES,
        parts=who.processes(),
        brokers=who.most,
        ends=True,
        alone=True,
        title=title,
    )


KINDS = (
    Kind("duplicate", 6, Capability.DUPLICATE, duplicate, {"apache-kafka-zk": ENDS_AT_ONCE}),
    Kind("swapped", 1, Capability.IDENTITY, swapped),
    Kind("foreign-cluster", 1, Capability.IDENTITY, foreign_cluster),
    Kind("changed-id", 1, Capability.IDENTITY, changed_id),
)
