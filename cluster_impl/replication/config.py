"""What of a node's configuration concerns its replicas. Times are seconds, sizes bytes."""

from __future__ import annotations

from dataclasses import dataclass

from cluster_impl.replication.rules import KIP_101, Rules
from cluster_impl.security.jaas import PlainLogin


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationConfig:
    """Defaults are Kafka's; the names in comments are those of the configuration file."""

    inter_broker_listener: str = "INTERNAL"
    lag_limit: float = 30.0  # replica.lag.time.max.ms
    isr_check_interval: float | None = None
    """How often a leader looks for followers that lag; None: often enough to notice within a quarter of the limit."""
    fetch_wait: float = 0.5  # replica.fetch.wait.max.ms
    fetch_max_bytes: int = 1024 * 1024  # replica.fetch.max.bytes, for each partition
    fetch_response_max_bytes: int = 10 * 1024 * 1024
    min_isr: int = 1  # min.insync.replicas
    message_max_bytes: int = 1024 * 1024 + 12  # message.max.bytes
    segment_bytes: int = 1024 * 1024 * 1024  # log.segment.bytes
    checkpoint_interval: float = 5.0  # replica.high.watermark.checkpoint.interval.ms
    connect_timeout: float = 2.0
    login: PlainLogin | None = None
    """Who this broker says it is to the leaders that it follows; None where nobody asks."""

    notes_empty_replicas: bool = False
    """Whether a restart is to know of a replica that it was begun empty and has not caught up since."""
    rules: Rules = KIP_101
    """Those of the design; no configuration file has them."""

    @property
    def fetch_timeout(self) -> float:
        """When a follower gives up on a fetch and connects anew: it has left the ISR by then."""
        return self.fetch_wait + self.lag_limit
