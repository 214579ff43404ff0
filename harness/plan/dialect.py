"""The dialects of a control plane."""

from __future__ import annotations

from enum import StrEnum


class Dialect(StrEnum):
    """The control-plane requests that a target uses."""

    KIP_631 = "kip-631"
    """The requests of the draft, KIP-631 v28."""
    KRAFT = "kraft"
    """The requests of shipped Apache Kafka without ZooKeeper."""
    ZOOKEEPER = "zookeeper"
    """The requests of a controller that keeps its state in ZooKeeper, with those of KIP-343 and ReplicaStateEvent."""
    LEADER_DRIVEN = "leader-driven"
    """No requests: the leader of each partition decides, and notifies its followers through queues in ZooKeeper."""

    CLIENTS = "clients"
    """No control plane is visible: all that is known of the cluster is what brokers answer to clients."""

    @property
    def uses_zookeeper(self) -> bool:
        """True if ZooKeeper stores the cluster state."""
        return self in (Dialect.ZOOKEEPER, Dialect.LEADER_DRIVEN)

    @property
    def has_controllers(self) -> bool:
        """True if one controller decides for the whole cluster."""
        return self not in (Dialect.LEADER_DRIVEN, Dialect.CLIENTS)

    @property
    def shows_decisions(self) -> bool:
        """True if what was decided can be read: in a log of the controllers, or in ZooKeeper."""
        return self is not Dialect.CLIENTS

    @property
    def metadata_topic(self) -> str:
        """The name of the metadata log in requests."""
        return "__cluster_metadata" if self is Dialect.KRAFT else "__kafka_metadata"
