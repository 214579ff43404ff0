"""The keys of a node that runs with ZooKeeper: Kafka's names, KIP-343's two timeouts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cluster_impl import config_values as read
from cluster_impl.config_keys import LEGACY, ConfigError, Key, keys_of
from cluster_impl.config_values import HostPort, ReplicationDesign
from cluster_impl.designs.zk_controller.ibp import Ibp


@dataclass(frozen=True, slots=True, kw_only=True)
class ZooKeeperConfig:
    """Times are seconds. The cluster's id is no key here: it is in ZooKeeper, where the first node puts it."""

    design: Annotated[
        ReplicationDesign,
        Key(
            "replication.design",
            read.one_of(ReplicationDesign),
            "Who decides on leaders and replicas: controller (one elected broker) or leader-driven (each leader).",
            default="controller",
            concerns=LEGACY,
        ),
    ]
    connect: Annotated[
        tuple[HostPort, ...],
        Key(
            "zookeeper.connect",
            read.hosts_and_ports,
            "The ZooKeeper servers, as host:port, separated by commas.",
            required_of=LEGACY,
            absent=(),
            concerns=LEGACY,
        ),
    ]
    session_timeout: Annotated[
        float,
        Key(
            "zookeeper.session.timeout.ms",
            read.milliseconds,
            "How long a ZooKeeper session lives without a sign of its owner.",
            default="18000",
            concerns=LEGACY,
        ),
    ]
    connection_timeout: Annotated[
        float,
        Key(
            "zookeeper.connection.timeout.ms",
            read.milliseconds,
            "How long a starting node waits for ZooKeeper.",
            default="18000",
            concerns=LEGACY,
        ),
    ]
    ibp: Annotated[
        Ibp,
        Key(
            "inter.broker.protocol.version",
            read.one_of(Ibp),
            "What may be expected of other brokers: 2.0, 2.1 (KIP-343 heartbeats) or 2.6 (ReplicaStateEvent).",
            default="2.6",
            concerns=LEGACY,
        ),
    ]
    controller_heartbeat_timeout: Annotated[
        float,
        Key(
            "controller.heartbeat.timeout.ms",
            read.milliseconds,
            "How long the controller waits for a broker's heartbeat before it declares the broker inactive.",
            default="18000",
            concerns=LEGACY,
        ),
    ]
    broker_heartbeat_timeout: Annotated[
        float,
        Key(
            "broker.heartbeat.timeout.ms",
            read.milliseconds,
            "How long a broker goes without an answer from the controller before it fences itself.",
            default="24000",
            concerns=LEGACY,
        ),
    ]
    broker_heartbeat_interval: Annotated[
        float,
        Key(
            "broker.heartbeat.interval.ms",
            read.milliseconds,
            "Time between a broker's heartbeats to the controller.",
            default="2000",
            concerns=LEGACY,
        ),
    ]
    controller_socket_timeout: Annotated[
        float,
        Key(
            "controller.socket.timeout.ms",
            read.milliseconds,
            "How long the controller waits for a broker, to connect and to answer.",
            default="30000",
            concerns=LEGACY,
        ),
    ]
    request_timeout: Annotated[
        float,
        Key(
            "request.timeout.ms",
            read.milliseconds,
            "How long a broker waits for the controller's answer.",
            default="30000",
            concerns=LEGACY,
        ),
    ]
    auto_leader_rebalance: Annotated[
        bool,
        Key(
            "auto.leader.rebalance.enable",
            read.boolean,
            "Whether leaderships are given back to preferred replicas without being asked for.",
            default="true",
            concerns=LEGACY,
        ),
    ]
    leader_imbalance_check_interval: Annotated[
        float,
        Key(
            "leader.imbalance.check.interval.seconds",
            read.seconds,
            "Time between the controller's looks at who leads what.",
            default="300",
            concerns=LEGACY,
        ),
    ]
    leader_imbalance_percentage: Annotated[
        int,
        Key(
            "leader.imbalance.per.broker.percentage",
            read.integer(0, 100),
            "The share of a broker's preferred leaderships that others may hold before they are given back.",
            default="10",
            concerns=LEGACY,
        ),
    ]
    unclean_leader_election: Annotated[
        bool,
        Key(
            "unclean.leader.election.enable",
            read.boolean,
            "Whether a replica outside the ISR may lead when no member of it lives: records may be lost.",
            default="false",
            concerns=LEGACY,
        ),
    ]
    controlled_shutdown: Annotated[
        bool,
        Key(
            "controlled.shutdown.enable",
            read.boolean,
            "Whether a broker hands its leaderships over before it ends.",
            default="true",
            concerns=LEGACY,
        ),
    ]
    controlled_shutdown_retries: Annotated[
        int,
        Key(
            "controlled.shutdown.max.retries",
            read.integer(0),
            "How often a controlled shutdown that failed is tried again.",
            default="3",
            concerns=LEGACY,
        ),
    ]
    controlled_shutdown_backoff: Annotated[
        float,
        Key(
            "controlled.shutdown.retry.backoff.ms",
            read.milliseconds,
            "The pause before a controlled shutdown is tried again.",
            default="5000",
            concerns=LEGACY,
        ),
    ]
    delete_topic: Annotated[
        bool,
        Key("delete.topic.enable", read.boolean, "Whether topics may be deleted.", default="true", concerns=LEGACY),
    ]

    @classmethod
    def only_with_controller(cls) -> frozenset[str]:
        """The names of the keys that mean nothing where there is no controller."""
        shared = {"design", "connect", "session_timeout", "connection_timeout", "auto_leader_rebalance"}
        return frozenset(key.name for attribute, key in keys_of(cls).items() if attribute not in shared)

    def check(self) -> None:
        """The rules that concern more than one key. Raises ConfigError."""
        if self.broker_heartbeat_timeout <= self.controller_heartbeat_timeout:
            raise ConfigError(
                "broker.heartbeat.timeout.ms must be longer than controller.heartbeat.timeout.ms: "
                "a broker would fence itself before the controller has declared it inactive."
            )
        if self.broker_heartbeat_interval >= self.controller_heartbeat_timeout:
            raise ConfigError(
                "broker.heartbeat.interval.ms must be shorter than controller.heartbeat.timeout.ms: "
                "a broker would be inactive between two heartbeats."
            )
