"""The first event of a new controller (onBecomingLeader): it reads the cluster and takes over.

Kafka Internals (2017), Controller failover, in this order:

    watches     set with every read, so that no change between reading and watching is missed
    context     brokers, topics, assignments, leadership: read once
    machines    replicas, then partitions; leaders for partitions without one
    requests    reassignments, deletions and elections that were requested continue
    brokers     all live ones get the complete state
"""

from __future__ import annotations

import logging

from fencepost.cluster_impl.coordination.steps import Absent, Create, Exists, Steps, run
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.brokers import notifications
from fencepost.cluster_impl.designs.zk_controller.controller.components import Components
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext
from fencepost.cluster_impl.designs.zk_controller.controller.state.leadership import Stats, read_states
from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import PartitionState
from fencepost.cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)

FIRST_EPOCH = 1
"""The epoch of the controller that initialises a new cluster."""


def elected(components: Components, epoch: int, now: float) -> Steps[None]:
    machines, context = components.machines, components.machines.context
    context.epoch = epoch
    yield from _create_roots()
    yield from notifications.forget(znodes.ISR_CHANGES)
    if not components.config.design.ibp.has_replica_events:
        yield from notifications.forget(znodes.LOG_DIR_EVENTS)
    yield from components.liveness.elected(now, brand_new=epoch == FIRST_EPOCH)
    yield from components.topics.elected()
    stats = yield from read_states(context, list(context.partitions()))
    log.info(
        "controller of epoch %d: %d live brokers of %d, %d topics, %d partitions",
        epoch,
        len(context.live),
        len(context.registered),
        len(context.assignments),
        len(context.leadership),
    )
    machines.batch.update_metadata()
    machines.batch.introduce(context.live)
    dead = machines.replicas.startup()
    machines.partitions.startup()
    older = _older_than_a_replica(context, stats)
    renewed = set((yield from _bounce_unseen(components, stats, older)))
    renewed.update((yield from machines.partitions.trigger_online()))
    yield from machines.replicas.take_offline(dead)
    yield from components.liveness.renew(partition for partition in older if partition not in renewed)
    yield from components.reassignments.elected()
    yield from components.reassignments.read_requested()
    yield from components.deletion.read_requested()
    yield from components.preferred.read_requested()
    components.preferred.elected(now)


def _create_roots() -> Steps[None]:
    outcomes = yield [Exists(path) for path in znodes.ROOTS]
    missing = [path for path, outcome in zip(znodes.ROOTS, outcomes, strict=True) if isinstance(outcome, Absent)]
    yield from run([Create(path) for path in missing])


def _bounce_unseen(components: Components, stats: Stats, older: list[TopicPartition]) -> Steps[set[TopicPartition]]:
    """Remove members from ISRs that were registered again while no controller saw it; return the partitions.

    Such a member may have another log, if another process held its id in between. Where no other member is online they
    stay, as after a failure of all members at once.
    """
    context = components.machines.context
    bounced = []
    for partition in older:
        isr = context.leadership[partition].isr
        online = [replica for replica in isr if context.is_online(replica, partition)]
        younger = [replica for replica in online if context.live[replica] > stats[partition].mzxid]
        if len(younger) < len(online):
            bounced += [(partition, replica) for replica in younger]
    led = [partition for partition, broker_id in bounced if context.leader(partition) == broker_id]
    components.machines.partitions.put(led, PartitionState.OFFLINE)
    yield from components.machines.replicas.take_offline(bounced)
    components.machines.replicas.bring_online(bounced)
    return {partition for partition, _ in bounced}


def _older_than_a_replica(context: ControllerContext, stats: Stats) -> list[TopicPartition]:
    """Return the partitions whose state is older than the registration of one of their brokers.

    No controller saw that registration, so an ISR change that was proposed for the earlier process could be accepted.
    """
    return [
        partition
        for partition, stat in stats.items()
        if any(context.live.get(replica, 0) > stat.mzxid for replica in context.replicas(partition))
    ]
