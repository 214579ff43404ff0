"""Clusters of the scenarios: their nodes, the roles of their brokers, their topics and timeouts."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from fencepost.harness.plan import timing, topologies
from fencepost.harness.plan.model import NodeSpec, Timing, TopicSpec, Topology
from fencepost.harness.plan.topologies import BROKER_IDS, CONTROLLER_IDS, node_name
from fencepost.suites.target_facts import TargetFacts

GUEST_ID = 8
"""The id of a broker for which requests are sent, and which need not run."""
JOINER_ID = 7
"""The id of a controller that joins a running quorum."""

MOST_REPLICAS = 3


def node_id(name: str) -> int:
    return int(name.removeprefix("node-"))


def replica_roles(slug: str, seed: int, ids: Sequence[int] = BROKER_IDS) -> list[str]:
    """Return the brokers in the order of the topic's replicas, the leader first, for a scenario by its slug.

    This order is all that the seed decides. Unless a topology says otherwise, the last broker is the controller in
    ZooKeeper mode.
    """
    brokers = [node_name(broker) for broker in ids]
    random.Random(f"{seed}/{slug}").shuffle(brokers)
    return brokers


def scaled_timing(target: TargetFacts, *, session_ms: int | None = None, **times: int) -> Timing:
    """Return the timeouts of a scenario; `times` are those that it chooses, before the target's factor applies."""
    return timing.scaled_timing(
        target.timeout_factor, leader_driven=target.leader_driven, session_ms=session_ms, **times
    )


def topic(replicas: Sequence[str], *, name: str = "t", min_isr: int = 2) -> TopicSpec:
    """Return a topic of one partition on these brokers; the first leads."""
    return TopicSpec(
        name=name, assignments=(tuple(map(node_id, replicas)),), config={"min.insync.replicas": str(min_isr)}
    )


def promised_topic(target: TargetFacts, brokers: Sequence[str], *, name: str = "t") -> TopicSpec:
    """Return a topic of one partition with as many replicas as the target promises, up to three."""
    replicas = [*brokers[:MOST_REPLICAS]] if target.promises.replication == "isr" else [brokers[0]]
    if len(replicas) > 1:
        return topic(replicas, name=name, min_isr=len(replicas) - 1)
    return TopicSpec(name=name, assignments=((node_id(replicas[0]),),))


def rotated_topic(replicas: Sequence[str], *, name: str, min_isr: int = 2) -> TopicSpec:
    """Return a topic with a partition for each of these brokers, which leads it."""
    ids = tuple(map(node_id, replicas))
    assignments = tuple((*ids[place:], *ids[:place]) for place in range(len(ids)))
    return TopicSpec(name=name, assignments=assignments, config={"min.insync.replicas": str(min_isr)})


def quorum_cluster(*, held_back: Collection[str] = (), more: Iterable[NodeSpec] = (), log_dirs: int = 1) -> Topology:
    """Return three controllers and three brokers; those held back wait for a start step."""
    brokers = topologies.brokers(held_back=held_back, log_dirs=log_dirs)
    return Topology(nodes=(*topologies.controllers(), *brokers, *more))


def growing_cluster() -> Topology:
    """Return three controllers, a fourth that starts later and without a vote, and three brokers."""
    joiner = topologies.controllers([JOINER_ID], start="later")
    return quorum_cluster(more=joiner)


def quorum_of_one() -> Topology:
    """Return one controller, two more that start later and without a vote, and three brokers."""
    first, *others = CONTROLLER_IDS
    controllers = (*topologies.controllers([first]), *topologies.controllers(others, start="later"))
    return Topology(nodes=(*controllers, *topologies.brokers()))


def cluster_with_a_guest() -> Topology:
    """Return three controllers and three brokers, and a fourth broker that starts later, if at all."""
    guest = node_name(GUEST_ID)
    return quorum_cluster(more=topologies.brokers([GUEST_ID], held_back=[guest]))


def fourth_broker(settings: Mapping[str, str | None]) -> NodeSpec:
    """Return a broker beside the three of each cluster, with settings of its own."""
    [broker] = topologies.brokers([GUEST_ID])
    return broker.model_copy(update={"settings": dict(settings)})


def combined_cluster() -> Topology:
    """Return three processes that are a broker and a controller each."""
    return Topology(nodes=topologies.combined())


def zookeeper_cluster(
    *,
    controller: str | None = None,
    servers: int = 1,
    held_back: Collection[str] = (),
    more: Iterable[NodeSpec] = (),
    log_dirs: int = 1,
    levels: Mapping[str, str] | None = None,
) -> Topology:
    """Return ZooKeeper servers and three brokers; those held back wait for a start step.

    `controller` is started first, so that it is elected; None in a design without one. `levels` are the protocol
    levels of brokers by name.
    """
    brokers = topologies.brokers(held_back=held_back, levels=levels, log_dirs=log_dirs)
    return Topology(nodes=(*topologies.zookeeper_servers(servers), *brokers, *more), controller=controller)


def smallest_cluster(
    target: TargetFacts, controller: str, *, held_back: Collection[str] = (), more: Iterable[NodeSpec] = ()
) -> Topology:
    """Return the smallest whole cluster of the target's design. Only ZooKeeper mode uses `controller`."""
    if target.uses_zookeeper:
        elected = None if target.leader_driven else controller
        return zookeeper_cluster(controller=elected, held_back=held_back, more=more)
    if target.dialect.shows_decisions:
        return quorum_cluster(held_back=held_back, more=more)
    services = topologies.services(target.services)
    brokers = topologies.brokers(target.brokers, held_back=held_back)
    return Topology(nodes=(*services, *topologies.with_front_ends(brokers, target.front_ends), *more))


def in_racks(topology: Topology, racks: Mapping[str, str] | None = None) -> Topology:
    """Return the topology with each broker in its rack, by its name; without racks, in one of its own with its name."""
    named = {node.name: node.name for node in topology.nodes} if racks is None else racks
    nodes = (
        node.model_copy(update={"rack": named.get(node.name)}) if "broker" in node.roles else node
        for node in topology.nodes
    )
    return topology.model_copy(update={"nodes": tuple(nodes)})


def duplicate_of(original: str, directory: Literal["empty", "cloned", "same"] = "empty") -> NodeSpec:
    """Return a second process for the id of a broker or controller; it waits to be started."""
    number = node_id(original)
    [node] = topologies.controllers([number]) if number in CONTROLLER_IDS else topologies.brokers([number])
    return topologies.duplicate_of(node, directory)


def metadata_store(target: TargetFacts) -> str:
    """Return the nodes that hold the metadata, as a plan names them."""
    return "zookeeper" if target.uses_zookeeper else "controllers"


def lease_sources(target: TargetFacts) -> tuple[str, ...]:
    """Return the nodes that a broker must hear before its own deadline to go on serving, as a plan names them."""
    if target.leader_driven:
        return ("zookeeper",)
    return ("zookeeper", "active-controller") if target.uses_zookeeper else ("controllers",)


def self_fence_ms(target: TargetFacts, timing: Timing) -> int:
    """Return how long a broker serves without an answer from its lease sources, in milliseconds."""
    if target.leader_driven:
        return timing.session_ms
    return timing.fence_ms if target.uses_zookeeper else timing.lease_ms
