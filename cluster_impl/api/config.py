"""What of a node's configuration concerns the client APIs. Times are seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiConfig:
    """Defaults are Kafka's, except that topics are not created by asking for them."""

    auto_create_topics: bool = False  # auto.create.topics.enable
    num_partitions: int = 1  # num.partitions
    default_replication_factor: int = 1  # default.replication.factor
    offsets_topic_num_partitions: int = 50  # offsets.topic.num.partitions
    offsets_topic_replication_factor: int = 3  # offsets.topic.replication.factor
    group_initial_rebalance_delay: float = 3.0  # group.initial.rebalance.delay.ms
    min_isr: int = 1  # min.insync.replicas
    message_max_bytes: int = 1024 * 1024 + 12  # message.max.bytes
