"""Nodes of the usual topologies: controllers or ZooKeeper servers, brokers, and duplicates of both.

Controllers have the ids 1 to 3, brokers those from 4. ZooKeeper servers count from 1, in an id space of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import cycle
from typing import Literal

from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import NodeSpec

CONTROLLER_IDS = (1, 2, 3)
BROKER_IDS = (4, 5, 6)
DUPLICATE_INDEX = 10
"""Added to the index of a node for its duplicate's own addresses."""

FIRST_SERVICE = 60
"""The index of the first service."""


def node_name(node_id: int) -> str:
    """Return the name of the broker or controller with this id: `node-4`."""
    return f"node-{node_id}"


def services(names: Iterable[str]) -> tuple[NodeSpec, ...]:
    """Return the services of a target, one of each."""
    return tuple(
        NodeSpec(name=name, id=number, index=FIRST_SERVICE + number, roles=("service",))
        for number, name in enumerate(names)
    )


def zookeeper_servers(count: int) -> tuple[NodeSpec, ...]:
    """Return the servers of an ensemble."""
    return tuple(NodeSpec(name=f"zk-{id}", id=id, index=id, roles=("zookeeper",)) for id in range(1, count + 1))


def deciders(dialect: Dialect, servers: int = 1) -> tuple[NodeSpec, ...]:
    """Return the nodes beside the brokers: three controllers, ZooKeeper servers, or none that is visible."""
    if dialect.uses_zookeeper:
        return zookeeper_servers(servers)
    return controllers() if dialect.has_controllers else ()


def controllers(
    ids: Iterable[int] = CONTROLLER_IDS,
    *,
    clock: Literal["machine", "own"] = "machine",
    start: Literal["now", "later"] = "now",
) -> tuple[NodeSpec, ...]:
    """Return controllers with these ids. One that starts later has no vote before it is given one."""
    return tuple(
        NodeSpec(name=node_name(id), id=id, index=id, roles=("controller",), clock=clock, start=start) for id in ids
    )


def combined(ids: Iterable[int] = BROKER_IDS, controller_ids: Iterable[int] = CONTROLLER_IDS) -> tuple[NodeSpec, ...]:
    """Return processes that are a broker, with one of `ids`, and a controller, with one of `controller_ids`."""
    return tuple(
        NodeSpec(name=node_name(id), id=id, index=id, roles=("broker", "controller"), controller_id=controller_id)
        for id, controller_id in zip(ids, controller_ids, strict=True)
    )


def brokers(
    ids: Iterable[int] = BROKER_IDS,
    *,
    held_back: Collection[str] = (),
    levels: Mapping[str, str] | None = None,
    log_dirs: int = 1,
    disk: Literal["plain", "breakable"] = "plain",
    clock: Literal["machine", "own"] = "machine",
    racks: Sequence[str | None] = (None,),
) -> tuple[NodeSpec, ...]:
    """Return brokers with these ids.

    `held_back`: the names of those that wait for a start step. `levels`: the protocol levels of brokers by name.
    `racks`: those of the brokers in turn.
    """
    ids = tuple(ids)
    indexes = ids if all(1 <= id < DUPLICATE_INDEX for id in ids) else range(BROKER_IDS[0], BROKER_IDS[0] + len(ids))
    return tuple(
        NodeSpec(
            name=node_name(id),
            id=id,
            index=index,
            roles=("broker",),
            start="later" if node_name(id) in held_back else "now",
            log_dirs=log_dirs,
            disk=disk,
            level=(levels or {}).get(node_name(id)),
            clock=clock,
            rack=rack,
        )
        for id, index, rack in zip(ids, indexes, cycle(racks), strict=False)
    )


def front_end(original: str, number: int) -> str:
    """Return the name of a front end of a broker, from 2: `node-111-2`."""
    return f"{original}-{number}"


def with_front_ends(originals: Iterable[NodeSpec], count: int) -> tuple[NodeSpec, ...]:
    """Return brokers, each followed by its further front ends, `count` with itself: `node-111`, `node-111-2`."""
    return tuple(
        original
        if number == 1
        else original.model_copy(
            update={
                "name": front_end(original.name, number),
                "index": original.index + (number - 1) * DUPLICATE_INDEX,
                "front_end_of": original.name,
            }
        )
        for original in originals
        for number in range(1, count + 1)
    )


def duplicate_of(original: NodeSpec, directory: Literal["empty", "cloned", "same"] = "empty") -> NodeSpec:
    """Return a second process for the original's id.

    It is as the original, with its own name, addresses and links, and waits for a step that starts it.
    """
    changed = {
        "name": f"{original.name}b",
        "index": DUPLICATE_INDEX + original.index,
        "start": "later",
        "duplicate_of": original.name,
        "directory": directory,
    }
    return original.model_copy(update=changed)
