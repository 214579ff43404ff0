"""The keys of replicas and client APIs, the same in every design."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.cluster_impl.config import values
from fencepost.cluster_impl.config.table import Table, key, subtable
from fencepost.cluster_impl.config.values import ReplicaSelector


@dataclass(frozen=True)
class TopicDefaults(Table):
    """The number of partitions and the replication factor of a topic whose creation gives -1."""

    partitions: int = key(
        "num.partitions", values.COUNT, "Partitions of a topic whose creation gives no number.", default="1"
    )
    replication_factor: int = key(
        "default.replication.factor",
        values.REPLICATION_FACTOR,
        "Replicas of a topic whose creation gives no number.",
        default="1",
    )


@dataclass(frozen=True, kw_only=True)
class DataPlaneConfig(Table):
    """Times are seconds, sizes bytes. The defaults are Kafka's, except that Metadata requests create no topics."""

    inter_broker_listener: str = key(
        "inter.broker.listener.name", values.NAME, "The listener that brokers use among themselves.", default="INTERNAL"
    )
    lag_limit: float = key(
        "replica.lag.time.max.ms",
        values.milliseconds(),
        "The time for which a follower may lag before it leaves the ISR.",
        default="30000",
    )
    fetch_wait: float = key(
        "replica.fetch.wait.max.ms",
        values.milliseconds(),
        "The time for which a leader holds a follower's empty fetch.",
        default="500",
    )
    fetch_max_bytes: int = key(
        "replica.fetch.max.bytes", values.size(1), "Bytes of one partition in a follower's fetch.", default="1048576"
    )
    fetch_session_slots: int = key(
        "max.incremental.fetch.session.cache.slots",
        values.size(0),
        "Clients that fetch by sessions, at most; others send all of their partitions in each request.",
        default="1000",
    )
    replica_selector: ReplicaSelector = key(
        "replica.selector.class",
        values.one_of(ReplicaSelector),
        "The replica from which a client reads that names its rack: the leader, or one in that rack.",
        default=ReplicaSelector.LEADER.value,
    )
    min_isr: int = key(
        "min.insync.replicas",
        values.COUNT,
        "ISR members needed for acks=all, where the topic sets no other number.",
        default="1",
    )
    message_max_bytes: int = key(
        "message.max.bytes",
        values.size(1),
        "Largest record batch, where the topic sets no other size.",
        default="1048588",
    )
    segment_bytes: int = key("log.segment.bytes", values.size(14), "Size of a log segment file.", default="1073741824")
    segment_ms: int = key(
        "log.roll.ms",
        values.LONG_MILLISECONDS,
        "A segment ends before a record that is this much newer than its first.",
        default="604800000",
    )
    retention_ms: int = key(
        "log.retention.ms",
        values.RETENTION_MILLISECONDS,
        "Age at which records are deleted, where the topic sets no other; -1 for never.",
        default="604800000",
    )
    retention_bytes: int = key(
        "log.retention.bytes",
        values.RETENTION_BYTES,
        "Size of a partition beyond which its oldest segments are deleted; -1 for any.",
        default="-1",
    )
    retention_check_interval: float = key(
        "log.retention.check.interval.ms",
        values.milliseconds(),
        "Time between looks for segments to delete.",
        default="300000",
    )
    compaction_interval: float = key(
        "log.cleaner.backoff.ms", values.milliseconds(), "Time between looks for logs to compact.", default="15000"
    )
    checkpoint_interval: float = key(
        "replica.high.watermark.checkpoint.interval.ms",
        values.milliseconds(),
        "Time between writes of the high watermark checkpoint.",
        default="5000",
    )
    topics: TopicDefaults = subtable(TopicDefaults)
    auto_create_topics: bool = key(
        "auto.create.topics.enable",
        values.BOOLEAN,
        "Create a topic that a client asks for by Metadata.",
        default="false",
    )
    offsets_topic_partitions: int = key(
        "offsets.topic.num.partitions", values.COUNT, "Partitions of __consumer_offsets.", default="50"
    )
    offsets_topic_replication_factor: int = key(
        "offsets.topic.replication.factor", values.REPLICATION_FACTOR, "Replicas of __consumer_offsets.", default="3"
    )
    offsets_topic_segment_bytes: int = key(
        "offsets.topic.segment.bytes",
        values.size(14),
        "Size of a segment file of __consumer_offsets. All but the last are compacted, and the last is read by a new "
        "coordinator, so it is smaller than Kafka's.",
        default="16777216",
    )
    group_initial_rebalance_delay: float = key(
        "group.initial.rebalance.delay.ms",
        values.milliseconds(0),
        "The time for which a new group waits for more members before its first rebalance.",
        default="3000",
    )

    isr_check_interval: float | None = None
    """Time between a leader's checks for followers that lag. None derives it from `lag_limit`, so that a leader notices
    within a quarter of the limit. Set by the leader-driven design only."""

    @property
    def fetch_timeout(self) -> float:
        """Seconds after which a follower gives up on a fetch and connects again; it has left the ISR by then."""
        return self.fetch_wait + self.lag_limit
