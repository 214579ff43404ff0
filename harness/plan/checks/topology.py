"""Checks of nodes and their settings, and of the topics that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fencepost.harness.plan.checks.problem import Problem, twice, unknown
from fencepost.harness.plan.model import NodeSpec, Plan
from fencepost.harness.plan.owned import OF_HARNESS


def node_problems(plan: Plan) -> Iterator[Problem]:
    nodes = plan.topology.nodes
    at = ("topology", "nodes")
    yield from twice(at, "node", "name", (node.name for node in nodes))
    yield from twice(at, "node", "index", (str(node.index) for node in nodes))
    names = {node.name for node in nodes}
    owners: dict[int, str] = {}
    yield from _first(plan)
    for place, node in enumerate(nodes):
        if node.roles == ("service",):
            continue
        if "zookeeper" in node.roles:
            yield from _zookeeper((*at, place), node)
        elif node.front_end_of is not None:
            yield from _front_end((*at, place), node, owners)
        elif node.duplicate_of is None:
            if node.id in owners:
                yield Problem(
                    (*at, place, "id"),
                    f"{node.name} has the id {node.id} of {owners[node.id]}; a second process for it names "
                    f"`duplicate_of: {owners[node.id]}`",
                )
            owners.setdefault(node.id, node.name)
            yield from _combined((*at, place), node, owners)
        elif node.duplicate_of not in names:
            yield Problem((*at, place, "duplicate_of"), unknown("node", node.duplicate_of, names))
        elif plan.node(node.duplicate_of).id != node.id:
            yield Problem(
                (*at, place, "id"),
                f"{node.name} duplicates {node.duplicate_of} but has another id: give it the same",
            )
        if node.directory != "empty" and node.duplicate_of is None:
            message = f"`directory: {node.directory}` is for a duplicate: give {node.name} a `duplicate_of`, or drop it"
            yield Problem((*at, place, "directory"), message)


def _first(plan: Plan) -> Iterator[Problem]:
    at, name = ("topology", "controller"), plan.topology.controller
    brokers = {node.name for node in plan.topology.nodes if "broker" in node.roles and node.start == "now"}
    if name is not None and name not in brokers:
        yield Problem(at, f"{unknown('broker', name, brokers)} (of those that start with the cluster)")


def _combined(at: tuple[str | int, ...], node: NodeSpec, owners: dict[int, str]) -> Iterator[Problem]:
    """Check the id of the controller in a process that is a broker as well: it is a node id of its own."""
    id = node.controller_id
    if id is None:
        return
    if not {"broker", "controller"} <= set(node.roles):
        message = (
            f"{node.name} has one role, and one id: drop `controller_id`, or give it `roles: [broker, controller]`"
        )
        yield Problem((*at, "controller_id"), message)
    elif id in owners:
        yield Problem((*at, "controller_id"), f"{node.name} has a controller with the id {id} of {owners[id]}")
    owners.setdefault(id, node.name)


def _front_end(at: tuple[str | int, ...], node: NodeSpec, owners: Mapping[int, str]) -> Iterator[Problem]:
    if owners.get(node.id) != node.front_end_of or node.start == "later" or node.duplicate_of is not None:
        yield Problem(
            (*at, "front_end_of"),
            f"{node.name} has to follow the broker {node.front_end_of}, start with it, and have its id",
        )


def _zookeeper(at: tuple[str | int, ...], node: NodeSpec) -> Iterator[Problem]:
    """Check a ZooKeeper server. Its id is in the id space of the ensemble, not of the brokers."""
    if node.roles != ("zookeeper",):
        yield Problem((*at, "roles"), f"{node.name} is a ZooKeeper server: drop its other roles")
    if node.duplicate_of is not None:
        yield Problem(
            (*at, "duplicate_of"), f"{node.name} is a ZooKeeper server, which cannot be duplicated: drop `duplicate_of`"
        )


def setting_problems(plan: Plan) -> Iterator[Problem]:
    for place, node in enumerate(plan.topology.nodes):
        for key in node.settings:
            if key in OF_HARNESS and node.start == "now":
                message = (
                    f"`{key}` is set by the harness, which places nodes and finds their files by it: drop it, or give "
                    f"{node.name} `start: later`, to see what a node with another value does"
                )
                yield Problem(("topology", "nodes", place, "settings"), message)
    for role, settings in plan.settings or ():
        for key in settings:
            if key in OF_HARNESS:
                message = f"`{key}` is set by the harness, which places nodes and finds their files by it: drop it"
                yield Problem(("settings", role), message)


def topic_problems(plan: Plan) -> Iterator[Problem]:
    brokers = {node.id for node in plan.topology.nodes if "broker" in node.roles}
    yield from twice(("topics",), "topic", "name", (topic.name for topic in plan.topics))
    for place, topic in enumerate(plan.topics):
        for partition, replicas in enumerate(topic.assignments):
            at = ("topics", place, "assignments", partition)
            for replica in replicas:
                if replica not in brokers:
                    yield Problem(at, f"{topic.name}-{partition} is assigned to broker {replica}, which does not exist")
            if len(set(replicas)) < len(replicas):
                yield Problem(at, f"{topic.name}-{partition} is assigned twice to one broker")
