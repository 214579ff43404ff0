"""Random aims of link faults: which links, opened by which side."""

from __future__ import annotations

import random
from collections.abc import Mapping

from fencepost.faults.generation import (
    LINKS_AMONG_BROKERS,
    LINKS_AMONG_QUORUM,
    LINKS_OF_CLIENTS,
    LINKS_TO_QUORUM,
    Aim,
    BreakableCluster,
    GeneratedFault,
    HealOrder,
    Resource,
    some_brokers,
    some_of_quorum,
)
from fencepost.faults.links.link_fault import Separation, StreamChoice
from fencepost.faults.parameters import FaultParameters, NodeRefs

STREAMS: tuple[StreamChoice, ...] = ("both", "both", "requests", "replies")
SEPARATIONS: tuple[Separation, ...] = ("cut", "cut", "stall", "blackhole")
"""The ways of a partition, repeated by their frequency."""

BETWEEN_NODES: Mapping[str, str] = {"clients": "it is not known which of its nodes have links to each other"}
"""The reason why random plans leave faults of links between nodes out, by dialect."""

Links = tuple[Aim, NodeRefs, Resource]
"""The aim, the other side, and the links between the two."""


def opened_links(rng: random.Random, cluster: BreakableCluster) -> Links:
    """Choose as `links_between`, for faults of the links that one side opens: a tenth of them are the clients'.

    Where no quorum is visible, it is not known which nodes have links to each other: all of them are the clients'.
    """
    if rng.random() < 0.1 or not cluster.quorum:
        refs = rng.choice((f"leader:{rng.choice(cluster.partitions)}", "brokers"))
        return Aim("site:main", 1, "clients"), refs, LINKS_OF_CLIENTS
    return links_between(rng, cluster)


def links_between(rng: random.Random, cluster: BreakableCluster) -> Links:
    """Choose two sides. One of them is always a group of which the other is at most a part, so that at least one link
    remains, whichever nodes the roles lead to."""
    weights = (5, 4, 2 if len(cluster.quorum) > 1 else 0)
    where = rng.choices(("quorum", "brokers", "among the quorum"), weights=weights)[0]
    if where == "among the quorum":
        return some_of_quorum(rng, cluster), cluster.quorum_role, LINKS_AMONG_QUORUM
    if where == "quorum":
        return some_brokers(rng, cluster), cluster.quorum_role, LINKS_TO_QUORUM
    aim = some_brokers(rng, cluster)
    if aim.is_leader and rng.random() < 0.5:
        return aim, f"followers:{aim.partition}", LINKS_AMONG_BROKERS
    if len(aim.named) == 1 and rng.random() < 0.5:
        return aim, rng.choice([broker for broker in cluster.brokers if broker not in aim.named]), LINKS_AMONG_BROKERS
    return aim, "brokers", LINKS_AMONG_BROKERS


def two_groups(rng: random.Random, cluster: BreakableCluster) -> Links:
    """Choose as `links_between`, for faults that separate two groups: no link separates a group from itself."""
    while True:
        aim, other, links = links_between(rng, cluster)
        if aim.refs != other:
            return aim, other, links


def generated(
    parameters: FaultParameters,
    aim: Aim,
    links: Resource,
    title: str,
    *,
    holds_bytes: bool = True,
    others_go_on: bool = False,
) -> GeneratedFault:
    """Return the generated fault of these links. `holds_bytes`: it puts toxics on them, which paused nodes prevent."""
    return GeneratedFault(
        parameters=parameters,
        aim=aim,
        heal_order=HealOrder.LINKS,
        resources=(links,),
        title=title,
        brokers=aim.away_brokers,
        quorum=aim.away_quorum,
        others_go_on=others_go_on,
        needs_running_nodes=holds_bytes,
    )


def silences_brokers(links: Resource, cluster: BreakableCluster) -> bool:
    """Return whether the other brokers go on if these links to the quorum carry no bytes: a broker that no controller
    hears is given up then, and its own lease ends as well."""
    return links == LINKS_TO_QUORUM and cluster.unheard_broker_stops_serving
