"""The keys of the design `leader-driven`, whose cluster has no controller."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fencepost.cluster_impl.config import values
from fencepost.cluster_impl.config.table import ConfigError, key
from fencepost.cluster_impl.config.zookeeper import LeaderBalancingConfig


@dataclass(frozen=True, kw_only=True)
class LeaderDrivenConfig(LeaderBalancingConfig):
    """Times are seconds. The replication design V2 names the first three."""

    election_wait: float = key(
        "leader.election.wait.time.ms",
        values.milliseconds(),
        "The time for which a replica without a leader waits for the result of an election before it looks again.",
        default="5000",
    )
    preferred_wait: float = key(
        "preferred.replica.wait.time.ms",
        values.milliseconds(0),
        "The time for which a replica leaves the leadership to the preferred one before it takes it.",
        default="1000",
    )
    keep_in_sync: float = key(
        "keep.in.sync.time.ms",
        values.milliseconds(),
        "The time for which a follower may lack a record before it leaves the ISR.",
        default="10000",
    )
    queue_capacity: int = key(
        "state.change.queue.max.requests",
        values.COUNT,
        "The number of state change requests that may wait for one broker.",
        default="1000",
    )
    tick: float = key(
        "leader.tick.interval.ms",
        values.milliseconds(),
        "Time between a leader's checks of its partition while no client produces.",
        default="200",
    )
    metrics_file: Path | None = key(
        "metrics.file",
        values.FILE,
        "The file to which this broker writes its state changes as JSON, every second.",
        optional=True,
    )

    def check(self) -> None:
        if self.preferred_wait >= self.election_wait:
            raise ConfigError(
                "preferred.replica.wait.time.ms must be shorter than leader.election.wait.time.ms: "
                "every election would begin again before it has a result."
            )
