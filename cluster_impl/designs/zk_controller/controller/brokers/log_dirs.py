"""Replicas in failed log dirs, reported by ReplicaStateEvent or by the response to LeaderAndIsr."""

from __future__ import annotations

import logging
from collections.abc import Collection

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.liveness import BrokerLiveness
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)


def offline_replicas(
    machines: StateMachines, liveness: BrokerLiveness, broker_id: int, epoch: int, reported: Collection[TopicPartition]
) -> Steps[None]:
    """Take these replicas of a broker offline until it is registered at another epoch (decision: log dirs)."""
    known = machines.context.failed_dirs.setdefault(epoch, set())
    new = [
        partition
        for partition in reported
        if partition not in known and broker_id in machines.context.replicas(partition)
    ]
    if not new:
        return
    log.info("broker %d lost its replicas of %s", broker_id, ", ".join(map(str, new)))
    known.update(new)
    yield from liveness.replicas_offline([(partition, broker_id) for partition in new])


def storage_errors(machines: StateMachines, response: m.LeaderAndIsrResponse) -> list[TopicPartition]:
    """Return the partitions with a storage error. Before version 5 topics have names, from version 5 on ids."""
    failed = [
        TopicPartition(partition.topic_name, partition.partition_index)
        for partition in response.partition_errors
        if partition.error_code == Error.KAFKA_STORAGE_ERROR
    ]
    for topic in response.topics:
        name = machines.context.topic_name(topic.topic_id)
        failed += [
            TopicPartition(name, partition.partition_index)
            for partition in topic.partition_errors
            if name is not None and partition.error_code == Error.KAFKA_STORAGE_ERROR
        ]
    return failed
