"""The shared state of a controller's components: the context, the request batch and the two state machines."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.config.zk_controller import ZkControllerConfig
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext
from fencepost.cluster_impl.designs.zk_controller.controller.state.partition_state_machine import PartitionStateMachine
from fencepost.cluster_impl.designs.zk_controller.controller.state.replica_state_machine import ReplicaStateMachine
from fencepost.cluster_impl.designs.zk_controller.controller.state.request_batch import RequestBatch


@dataclass(frozen=True, slots=True)
class ControllerConfig:
    """The configuration of a controller. `listener` is the name of the inter-broker listener."""

    controller_id: int
    listener: str
    design: ZkControllerConfig
    topic_defaults: TopicDefaults


@dataclass(frozen=True, slots=True)
class StateMachines:
    """The state of one controller, and the machines that change it."""

    context: ControllerContext
    batch: RequestBatch
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine

    @classmethod
    def make(cls, config: ControllerConfig) -> StateMachines:
        context = ControllerContext()
        batch = RequestBatch(context, config.controller_id, config.listener)
        partitions = PartitionStateMachine(context, batch, unclean=config.design.unclean_leader_election)
        return cls(context, batch, partitions, ReplicaStateMachine(context, batch))
