"""The settings of one replica's log as numbers: the topic's own, and the broker's where the topic has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Sizes are bytes, times milliseconds."""

    min_isr: int
    max_message_bytes: int
    segment_bytes: int
    segment_ms: int
    deletes: bool
    """True if segments that are too old or too many are deleted."""
    compacts: bool
    """True if of the records with one key the last one stays."""
    min_dirty_ratio: float
    """The share of bytes that were not compacted yet from which on the log is compacted."""
    delete_retention_ms: int
    """The age from which on compaction removes records without a value."""
    log_append_time: bool
    """True if records get the time at which the leader appends them."""
    retention_ms: int
    """-1 for ever."""
    retention_bytes: int
    """-1 without a limit."""

    @classmethod
    def of(cls, config: Mapping[str, str], broker: DataPlaneConfig) -> Self:
        """`config` has texts that were checked (`topic_settings`), under the names that a topic's settings have."""
        return cls(
            min_isr=int(config.get("min.insync.replicas", broker.min_isr)),
            max_message_bytes=int(config.get("max.message.bytes", broker.message_max_bytes)),
            segment_bytes=int(config.get("segment.bytes", broker.segment_bytes)),
            segment_ms=int(config.get("segment.ms", broker.segment_ms)),
            deletes="delete" in config.get("cleanup.policy", "delete"),
            compacts="compact" in config.get("cleanup.policy", "delete"),
            min_dirty_ratio=float(config.get("min.cleanable.dirty.ratio", "0.5")),
            delete_retention_ms=int(config.get("delete.retention.ms", "86400000")),
            log_append_time=config.get("message.timestamp.type") == "LogAppendTime",
            retention_ms=int(config.get("retention.ms", broker.retention_ms)),
            retention_bytes=int(config.get("retention.bytes", broker.retention_bytes)),
        )
