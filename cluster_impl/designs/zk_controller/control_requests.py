"""The values of LeaderAndIsr, StopReplica and UpdateMetadata that the controller writes and the brokers read."""

from __future__ import annotations

from fencepost.cluster_impl.wire import messages as m

ControlRequest = m.LeaderAndIsrRequest | m.StopReplicaRequest | m.UpdateMetadataRequest

INCREMENTAL = 1
FULL = 2
"""Types of LeaderAndIsr and UpdateMetadata. A FULL request names all replicas of the broker, or all partitions; others
do not exist.
"""

LEADER_DURING_DELETE = -2
"""In UpdateMetadata: the topic is being deleted, so its partitions leave the metadata."""
EPOCH_DURING_DELETE = -2
"""In StopReplica: the topic is being deleted, at any leader epoch."""
NO_LEADER_EPOCH = -1
"""In StopReplica: no leader epoch is known."""
