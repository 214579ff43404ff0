"""onBecomingLeader: what a new controller reads, and how it takes over from the one before.

003, Controller failover, in this order:

    watches     set with every read, so that nothing is missed between reading and watching
    context     brokers, topics, assignments, leadership: read once
    machines    replicas, then partitions; leaders for what has none
    under way   reassignments, deletions and elections that were asked for go on
    brokers     all live ones are told everything
"""

from __future__ import annotations

import logging

from cluster_impl.coordination.steps import Absent, Create, Exists, Steps, run
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller import notifications
from cluster_impl.designs.zk_controller.controller.context import ControllerContext
from cluster_impl.designs.zk_controller.controller.leadership import Stats, read_states
from cluster_impl.designs.zk_controller.controller.parts import Parts
from cluster_impl.designs.zk_controller.controller.states import PartitionState
from cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)

FIRST_EPOCH = 1
"""Of the controller that initialises a new cluster."""


def elected(parts: Parts, epoch: int, now: float) -> Steps[None]:
    core, context = parts.core, parts.core.context
    context.epoch = epoch
    yield from _create_roots()
    yield from notifications.forget(znodes.ISR_CHANGES)
    if not parts.config.level.has_replica_events:
        yield from notifications.forget(znodes.LOG_DIR_EVENTS)
    yield from parts.liveness.elected(now, brand_new=epoch == FIRST_EPOCH)
    yield from parts.topics.elected()
    stats = yield from read_states(context, list(context.partitions()))
    log.info(
        "controller of epoch %d: %d live brokers of %d, %d topics, %d partitions",
        epoch,
        len(context.live),
        len(context.registered),
        len(context.assignments),
        len(context.leadership),
    )
    core.batch.update_metadata()
    core.batch.introduce(context.live)
    dead = core.replicas.startup()
    core.partitions.startup()
    older = _older_than_a_replica(context, stats)
    renewed = set((yield from _bounce_unseen(parts, stats, older)))
    renewed.update((yield from core.partitions.trigger_online()))
    yield from core.replicas.take_offline(dead)
    yield from parts.liveness.renew(each for each in older if each not in renewed)
    yield from parts.reassignments.elected()
    yield from parts.reassignments.read_asked()
    yield from parts.deletion.read_asked()
    yield from parts.preferred.read_asked()
    parts.preferred.elected(now)


def _create_roots() -> Steps[None]:
    outcomes = yield [Exists(path) for path in znodes.ROOTS]
    missing = [path for path, outcome in zip(znodes.ROOTS, outcomes, strict=True) if isinstance(outcome, Absent)]
    yield from run([Create(path) for path in missing])


def _bounce_unseen(parts: Parts, stats: Stats, older: list[TopicPartition]) -> Steps[set[TopicPartition]]:
    """Take members out of ISRs that they are in as earlier processes, which nobody saw end; returns the partitions.

    They may have another log: an elder process whose id another one held in between has. Where no other member is
    online they stay, as after any failure of all members at once.
    """
    context = parts.core.context
    bounced = []
    for partition in older:
        isr = context.leadership[partition].isr
        online = [each for each in isr if context.is_online(each, partition)]
        younger = [each for each in online if context.live[each] > stats[partition].mzxid]
        if len(younger) < len(online):
            bounced += [(partition, each) for each in younger]
    led = [partition for partition, broker_id in bounced if context.leader(partition) == broker_id]
    parts.core.partitions.put(led, PartitionState.OFFLINE)
    yield from parts.core.replicas.take_offline(bounced)
    parts.core.replicas.bring_online(bounced)
    return {partition for partition, _ in bounced}


def _older_than_a_replica(context: ControllerContext, stats: Stats) -> list[TopicPartition]:
    """Partitions whose state was written last before one of their brokers was registered.

    No controller saw that broker come: an ISR change which was proposed for its earlier process could be accepted.
    """
    return [
        partition
        for partition, stat in stats.items()
        if any(context.live.get(each, 0) > stat.mzxid for each in context.replicas(partition))
    ]
