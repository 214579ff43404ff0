"""The keys of the design `zk-controller`: Kafka's names, and the timeouts of KIP-343."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.cluster_impl.config import values
from fencepost.cluster_impl.config.ibp import Ibp
from fencepost.cluster_impl.config.table import ConfigError, key
from fencepost.cluster_impl.config.zookeeper import LeaderBalancingConfig


@dataclass(frozen=True, kw_only=True)
class ZkControllerConfig(LeaderBalancingConfig):
    """Times are seconds."""

    ibp: Ibp = key(
        "inter.broker.protocol.version",
        values.one_of(Ibp),
        "The level of the inter-broker protocol: 2.0, 2.1 (KIP-343 heartbeats) or 2.6 (ReplicaStateEvent).",
        default="2.6",
    )
    controller_heartbeat_timeout: float = key(
        "controller.heartbeat.timeout.ms",
        values.milliseconds(),
        "Time after a broker's last heartbeat at which the controller declares the broker inactive.",
        default="18000",
    )
    broker_heartbeat_timeout: float = key(
        "broker.heartbeat.timeout.ms",
        values.milliseconds(),
        "Time after the controller's last response at which a broker fences itself.",
        default="24000",
    )
    broker_heartbeat_interval: float = key(
        "broker.heartbeat.interval.ms",
        values.milliseconds(),
        "Time between a broker's heartbeats to the controller.",
        default="2000",
    )
    controller_socket_timeout: float = key(
        "controller.socket.timeout.ms",
        values.milliseconds(),
        "The time for which the controller waits for a broker, to connect and to respond.",
        default="30000",
    )
    request_timeout: float = key(
        "request.timeout.ms",
        values.milliseconds(),
        "The time for which a broker waits for the controller's response.",
        default="30000",
    )
    leader_imbalance_check_interval: float = key(
        "leader.imbalance.check.interval.seconds",
        values.SECONDS,
        "Time between the controller's checks for leaderships to give back.",
        default="300",
    )
    leader_imbalance_percentage: int = key(
        "leader.imbalance.per.broker.percentage",
        values.PORTION,
        "The share of a broker's preferred leaderships that others may hold before they are given back.",
        default="10",
    )
    unclean_leader_election: bool = key(
        "unclean.leader.election.enable",
        values.BOOLEAN,
        "Elect a replica outside the ISR when no member of it lives: records may be lost.",
        default="false",
    )
    controlled_shutdown: bool = key(
        "controlled.shutdown.enable",
        values.BOOLEAN,
        "Hand the leaderships of a broker over before it stops.",
        default="true",
    )
    controlled_shutdown_retries: int = key(
        "controlled.shutdown.max.retries",
        values.whole_number(),
        "The number of times that a failed controlled shutdown is tried again.",
        default="3",
    )
    controlled_shutdown_backoff: float = key(
        "controlled.shutdown.retry.backoff.ms",
        values.milliseconds(),
        "The pause before a controlled shutdown is tried again.",
        default="5000",
    )
    delete_topics: bool = key("delete.topic.enable", values.BOOLEAN, "Allow topics to be deleted.", default="true")

    def check(self) -> None:
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
