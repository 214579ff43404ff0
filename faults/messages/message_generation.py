"""Random aims of faults of messages: requests that come all the time on links of a healthy cluster."""

from __future__ import annotations

import random
from typing import NamedTuple

from fencepost.faults.generation import (
    LINKS_AMONG_BROKERS,
    LINKS_AMONG_QUORUM,
    LINKS_OF_CLIENTS,
    LINKS_TO_QUORUM,
    Aim,
    BreakableCluster,
    Resource,
    one_broker,
)

HEARTBEATS = {"apache-kafka": "broker_heartbeat", "quorum": "kip_631_broker_heartbeat"}
"""The heartbeats of brokers by target; others may have others."""


class Flow(NamedTuple):
    """Requests of one API that `aim` sends to `to`."""

    api: str
    aim: Aim
    to: str
    links: Resource


def flowing(rng: random.Random, cluster: BreakableCluster) -> Flow:
    """Choose requests of clients, of followers, or of what hears a quorum that speaks the protocol of Kafka."""
    flows = [_of_clients(rng, cluster), _of_clients(rng, cluster)]
    replicated = [partition for partition in cluster.partitions if cluster.replicas(partition) > 1]
    if replicated and cluster.quorum:
        partition = rng.choice(replicated)
        followers = Aim(f"followers:{partition}", cluster.replicas(partition) - 1, "brokers")
        flows += [Flow("fetch", followers, f"leader:{partition}", LINKS_AMONG_BROKERS)] * 2
    if cluster.quorum and not cluster.uses_zookeeper:
        api = rng.choice((HEARTBEATS.get(cluster.target_name, "fetch"), "fetch"))
        flows += [Flow(api, one_broker(rng, cluster), cluster.quorum_role, LINKS_TO_QUORUM)] * 3
        if len(cluster.quorum) > 1:
            others = Aim(cluster.quorum_role, len(cluster.quorum), "quorum", tuple(cluster.quorum))
            flows.append(Flow("fetch", others, "active-controller", LINKS_AMONG_QUORUM))
    return rng.choice(flows)


def _of_clients(rng: random.Random, cluster: BreakableCluster) -> Flow:
    apis = ("produce", "produce", *(("fetch",) if cluster.clients_read else ()))
    return Flow(rng.choice(apis), Aim("site:main", 1, "clients"), "brokers", LINKS_OF_CLIENTS)
