"""The keys of a node that runs with ZooKeeper, in either design."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.cluster_impl.config import values
from fencepost.cluster_impl.config.table import Table, key
from fencepost.cluster_impl.config.values import HostPort


@dataclass(frozen=True, kw_only=True)
class ZooKeeperConfig(Table):
    """Times are seconds. The cluster's id is no key: it is in ZooKeeper, where the first node puts it."""

    connect: tuple[HostPort, ...] = key("zookeeper.connect", values.SERVERS, "The ZooKeeper servers.")
    session_timeout: float = key(
        "zookeeper.session.timeout.ms",
        values.milliseconds(),
        "The time without a message from this node after which its ZooKeeper session expires.",
        default="18000",
    )
    connection_timeout: float = key(
        "zookeeper.connection.timeout.ms",
        values.milliseconds(),
        "The time for which a starting node waits for ZooKeeper.",
        default="18000",
    )

    @property
    def connect_string(self) -> str:
        return ",".join(f"{at.host}:{at.port}" for at in self.connect)


@dataclass(frozen=True, kw_only=True)
class LeaderBalancingConfig(Table):
    """The key that the designs with ZooKeeper share."""

    auto_leader_rebalance: bool = key(
        "auto.leader.rebalance.enable",
        values.BOOLEAN,
        "Give leaderships back to preferred replicas without a request.",
        default="true",
    )
