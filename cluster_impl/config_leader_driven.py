"""The keys of a node whose cluster has no controller: `replication.design=leader-driven`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cluster_impl import config_values as read
from cluster_impl.config_keys import LEGACY, ConfigError, Key, keys_of, values_of
from cluster_impl.config_values import ReplicationDesign, Role
from cluster_impl.config_zookeeper import ZooKeeperConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderDrivenConfig:
    """Times are seconds. The text names the first three; who has which design is `replication.design`."""

    election_wait: Annotated[
        float,
        Key(
            "leader.election.wait.time.ms",
            read.milliseconds,
            "How long a replica without a leader waits for the outcome of an election before it looks again.",
            default="5000",
            concerns=LEGACY,
        ),
    ]
    preferred_wait: Annotated[
        float,
        Key(
            "preferred.replica.wait.time.ms",
            read.milliseconds_or_zero,
            "How long a replica leaves the leadership to the preferred one before it takes it.",
            default="1000",
            concerns=LEGACY,
        ),
    ]
    keep_in_sync: Annotated[
        float,
        Key(
            "keep.in.sync.time.ms",
            read.milliseconds,
            "How long a follower may lack a record before it leaves the ISR.",
            default="10000",
            concerns=LEGACY,
        ),
    ]
    queue_capacity: Annotated[
        int,
        Key(
            "state.change.queue.max.requests",
            read.integer(1),
            "How many state change requests may wait for one broker.",
            default="1000",
            concerns=LEGACY,
        ),
    ]
    tick: Annotated[
        float,
        Key(
            "leader.tick.interval.ms",
            read.milliseconds,
            "How often a leader looks after its partition when nobody produces.",
            default="200",
            concerns=LEGACY,
        ),
    ]
    metrics_file: Annotated[
        Path | None,
        Key(
            "metrics.file",
            Path,
            "The file that gets the state changes of this broker, as JSON, every second; none where absent.",
            concerns=LEGACY,
        ),
    ]

    def check(self) -> None:
        """The rules that concern more than one key. Raises ConfigError."""
        if self.preferred_wait >= self.election_wait:
            raise ConfigError(
                "preferred.replica.wait.time.ms must be shorter than leader.election.wait.time.ms: "
                "every election would begin anew before it has an outcome."
            )


def leader_driven_config(
    properties: Mapping[str, str], role: Role, design: ReplicationDesign
) -> LeaderDrivenConfig | None:
    """None where there is a controller. Raises ConfigError for a key of the design that this node does not have."""
    found = LeaderDrivenConfig(**values_of(LeaderDrivenConfig, properties, role))
    is_leader_driven = role is Role.LEGACY and design is ReplicationDesign.LEADER_DRIVEN
    own = frozenset(key.name for key in keys_of(LeaderDrivenConfig).values())
    foreign = ZooKeeperConfig.only_with_controller() if is_leader_driven else own
    for name in properties:
        if name in foreign:
            its_design = ReplicationDesign.CONTROLLER if is_leader_driven else ReplicationDesign.LEADER_DRIVEN
            raise ConfigError(
                f"the key {name} is one of nodes with replication.design={its_design.value}, which this node is not."
            )
    return found if is_leader_driven else None
