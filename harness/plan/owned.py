"""The configuration keys by which the harness places nodes behind their links and finds their files.

Another value would open a way past the links, or let faults and checkers look at files that are none of the node's. So
neither a target file nor a plan may set them.
"""

from __future__ import annotations

_LISTENERS = frozenset(
    {
        "advertised.host.name",
        "advertised.listeners",
        "advertised.port",
        "host.name",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "listeners",
        "port",
        "security.inter.broker.protocol",
    }
)
_PLACE = _LISTENERS | {"broker.id", "log.dir", "log.dirs", "metadata.log.dir", "node.id", "process.roles"}

OF_KRAFT = _PLACE | {
    "controller.listener.names",
    "controller.quorum.bootstrap.servers",
    "controller.quorum.voters",
    "zookeeper.connect",
}
"""Apache Kafka without ZooKeeper."""
OF_KAFKA_ZK = _PLACE | {"zookeeper.connect"}
"""Apache Kafka with ZooKeeper."""
OF_REFERENCE = _PLACE | {
    "cluster.id",
    "controller.connect",
    "controller.id",
    "controller.listeners",
    "hosts.file",
    "metrics.file",
    "replication.design",
    "zookeeper.connect",
}
"""The reference cluster, in all designs."""

OF_HARNESS = OF_KRAFT | OF_KAFKA_ZK | OF_REFERENCE
WHY = "the harness sets it, to place nodes behind their links and to find their files"
