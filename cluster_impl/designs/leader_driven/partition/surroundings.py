"""What a replica knows of the broker that it is on."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from cluster_impl.designs.leader_driven.state_changes.monitor import Monitor
from cluster_impl.replication.control_plane import DataPlane


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """Times are seconds; defaults as in `LeaderDrivenConfig`."""

    preferred_wait: float = 1.0
    election_wait: float = 5.0
    keep_in_sync: float = 10.0
    tick: float = 0.2
    queue_capacity: int = 1000
    balances_leaders: bool = True


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Shared by all replicas of broker `broker_id`. `live`: the registered brokers as this one knows them."""

    broker_id: int
    config: AgentConfig
    data_plane: DataPlane
    live: Callable[[], Collection[int]]
    monitor: Monitor
