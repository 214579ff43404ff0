"""Replicas whose log dir failed: told by ReplicaStateEvent, or by the answer to LeaderAndIsr (ReplicaStateEvent)."""

from __future__ import annotations

import logging
from collections.abc import Collection

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.zk_controller.controller.core import Core
from cluster_impl.designs.zk_controller.controller.liveness import Liveness
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)


def offline_replicas(
    core: Core, liveness: Liveness, broker_id: int, epoch: int, told: Collection[TopicPartition]
) -> Steps[None]:
    """Give up these replicas of a broker, until it is registered at another epoch (decision: log dirs)."""
    known = core.context.failed_dirs.setdefault(epoch, set())
    new = [each for each in told if each not in known and broker_id in core.context.replicas(each)]
    if not new:
        return
    log.info("broker %d lost its replicas of %s", broker_id, ", ".join(map(str, new)))
    known.update(new)
    yield from liveness.replicas_offline([(each, broker_id) for each in new])


def storage_errors(core: Core, response: m.LeaderAndIsrResponse) -> list[TopicPartition]:
    """The partitions that a broker says it cannot use. Before version 5 topics are named, later they have ids."""
    failed = [
        TopicPartition(each.topic_name, each.partition_index)
        for each in response.partition_errors
        if each.error_code == Error.KAFKA_STORAGE_ERROR
    ]
    for topic in response.topics:
        name = core.context.topic_name(topic.topic_id)
        failed += [
            TopicPartition(name, each.partition_index)
            for each in topic.partition_errors
            if name is not None and each.error_code == Error.KAFKA_STORAGE_ERROR
        ]
    return failed
