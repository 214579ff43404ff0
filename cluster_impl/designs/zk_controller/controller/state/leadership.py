"""The state znodes of partitions: read, applied, and written by compare-and-set (Kafka Internals (2017), Misc,
updateLeaderAndIsr).

Below the level of KIP-343 leaders write them too, so a write may meet an unknown version. Then the state is read again
and applied, and the change is decided again, as it may no longer be needed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from fencepost.cluster_impl.coordination.steps import (
    Create,
    Done,
    Found,
    Get,
    NodeExists,
    SetData,
    Stat,
    Steps,
    run,
)
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.events import ControllerMoved
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext
from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import PartitionState
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from fencepost.cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)

Decide = Callable[[TopicPartition, LeaderAndIsr], LeaderAndIsr | None]
"""Returns the new state for a known one, None to leave it as it is. The `version` of the result is ignored."""

Stats = dict[TopicPartition, Stat]


def change_states(
    context: ControllerContext, partitions: Iterable[TopicPartition], decide: Decide
) -> Steps[list[TopicPartition]]:
    """Write the new state of each partition for which `decide` returns one; return the changed partitions."""
    changed = []
    pending: Collection[TopicPartition] = list(partitions)
    while pending:
        wanted: dict[TopicPartition, LeaderAndIsr] = {}
        writes = []
        for partition in pending:
            known = context.leadership.get(partition)
            new = None if known is None else decide(partition, known)
            if known is not None and new is not None:
                wanted[partition] = new
                writes.append(SetData(znodes.state(partition), znodes.write_state(new), known.version))
        if not writes:
            break
        outcomes = yield writes
        lost: dict[TopicPartition, LeaderAndIsr] = {}
        for (partition, new), outcome in zip(wanted.items(), outcomes, strict=True):
            if isinstance(outcome, Done):
                context.leadership[partition] = replace(new, version=outcome.version)
                changed.append(partition)
            else:
                lost[partition] = new
        yield from read_states(context, lost)
        ours = {partition for partition, new in lost.items() if _is(context.leadership.get(partition), new)}
        changed += [partition for partition in lost if partition in ours]
        pending = [partition for partition in lost if partition not in ours]
    return changed


def create_states(
    context: ControllerContext, wanted: dict[TopicPartition, LeaderAndIsr]
) -> Steps[list[TopicPartition]]:
    """Create the state znodes of new partitions, with their parents. A state that exists is applied instead.

    Return the partitions that have a state now; the topic of the others is gone.
    """
    topics = [
        topic for topic in dict.fromkeys(partition.topic for partition in wanted) if not _has_states(context, topic)
    ]
    outcomes = yield [
        *(Create(znodes.partitions(topic)) for topic in topics),
        *(Create(znodes.partition(partition.topic, partition.partition)) for partition in wanted),
        *(Create(znodes.state(partition), znodes.write_state(new)) for partition, new in wanted.items()),
    ]
    existing = []
    for (partition, new), outcome in zip(wanted.items(), outcomes[-len(wanted) :], strict=True):
        if isinstance(outcome, Done):
            context.leadership[partition] = replace(new, version=outcome.version)
        elif isinstance(outcome, NodeExists):
            existing.append(partition)
        else:
            log.error("%s cannot be given a leader: its topic has no znode", partition)
    yield from read_states(context, existing)
    return [partition for partition in wanted if partition in context.leadership]


def read_states(context: ControllerContext, partitions: Collection[TopicPartition]) -> Steps[Stats]:
    """Apply the states in ZooKeeper and return their stats; a partition without a readable state has no leadership.

    A partition with an unreadable state counts as new, as after an election, and its state is watched. Raises
    ControllerMoved if a later controller wrote one of the states.
    """
    stats, malformed = yield from _read(context, partitions)
    if malformed:
        watched, malformed = yield from _read(context, list(malformed), watch=True)
        stats |= watched
    for partition, problem in malformed.items():
        log.error("%s stays as it is until its state is repaired: %s", partition, problem)
        if context.partition_state(partition) is not PartitionState.NON_EXISTENT:
            context.put_partition_state(partition, PartitionState.NEW)
    return stats


def _read(
    context: ControllerContext, partitions: Collection[TopicPartition], *, watch: bool = False
) -> Steps[tuple[Stats, dict[TopicPartition, MalformedZnode]]]:
    """Return the stats of the readable states, and the errors of the others."""
    stats: Stats = {}
    malformed = {}
    outcomes = yield from run([Get(znodes.state(partition), watch) for partition in partitions])
    for partition, outcome in zip(partitions, outcomes, strict=True):
        if not isinstance(outcome, Found):
            context.leadership.pop(partition, None)
            continue
        try:
            state = znodes.read_state(partition, outcome.data, outcome.stat.version)
        except MalformedZnode as problem:
            malformed[partition] = problem
            context.leadership.pop(partition, None)
            continue
        if state.controller_epoch > context.epoch:
            raise ControllerMoved(
                f"the state of {partition} was written by the controller of epoch {state.controller_epoch}, "
                f"and this one is of epoch {context.epoch}"
            )
        context.leadership[partition] = state
        stats[partition] = outcome.stat
    return stats, malformed


def _is(found: LeaderAndIsr | None, wanted: LeaderAndIsr) -> bool:
    """Return whether a refused write was carried out: the response to its first attempt was lost."""
    return found is not None and found.says_the_same(wanted)


def _has_states(context: ControllerContext, topic: str) -> bool:
    return any(partition in context.leadership for partition in context.partitions_of(topic))
