"""What the parts of a controller share: what it knows, whom it tells, and its two state machines."""

from __future__ import annotations

from dataclasses import dataclass

from cluster_impl.designs.zk_controller.controller.context import ControllerContext
from cluster_impl.designs.zk_controller.controller.partition_state_machine import PartitionStateMachine
from cluster_impl.designs.zk_controller.controller.replica_state_machine import ReplicaStateMachine
from cluster_impl.designs.zk_controller.controller.request_batch import RequestBatch
from cluster_impl.designs.zk_controller.ibp import Ibp


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig:
    """Of the broker that is controller. Times are seconds; `listener` is the one that brokers use among themselves."""

    controller_id: int
    level: Ibp
    listener: str
    heartbeat_timeout: float
    unclean_leader_election: bool
    delete_topics: bool
    auto_leader_rebalance: bool
    leader_imbalance_check_interval: float
    leader_imbalance_percentage: int
    default_partitions: int
    default_replication_factor: int


@dataclass(frozen=True, slots=True)
class Core:
    context: ControllerContext
    batch: RequestBatch
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine

    @classmethod
    def make(cls, config: ControllerConfig) -> Core:
        context = ControllerContext()
        batch = RequestBatch(context, config.controller_id, config.listener)
        partitions = PartitionStateMachine(context, batch, unclean=config.unclean_leader_election)
        return cls(context, batch, partitions, ReplicaStateMachine(context, batch))
