"""The facts about its broker that a replica uses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from fencepost.cluster_impl.config.leader_driven import LeaderDrivenConfig
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.replication.control_plane import DataPlane


@dataclass(frozen=True, slots=True)
class ReplicaContext:
    """Shared by all replicas of broker `broker_id`. `live` returns the registered brokers that this broker knows."""

    broker_id: int
    config: LeaderDrivenConfig
    data_plane: DataPlane
    live: Callable[[], Collection[int]]
    monitor: StateChangeMonitor
    below_topics: Callable[[], Mapping[str, str]] = dict
    """Returns the settings that the broker was given at run time, under the topic's names."""
