"""The state znodes of partitions: read, adopted, and written by compare-and-set (003, Misc, updateLeaderAndIsr).

Leaders of a legacy level write them too, so that a write may find a version that the controller does not know. Then the
state is read again and adopted, and the change is decided again: it may be wanted no longer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from cluster_impl.coordination.steps import (
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
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller.context import ControllerContext
from cluster_impl.designs.zk_controller.controller.moved import ControllerMoved
from cluster_impl.designs.zk_controller.controller.states import PartitionState
from cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)

Decide = Callable[[TopicPartition, LeaderAndIsr], LeaderAndIsr | None]
"""What to make of the state that is known; None to leave it as it is. `version` of the result does not matter."""

Stats = dict[TopicPartition, Stat]


def change_states(
    context: ControllerContext, partitions: Iterable[TopicPartition], decide: Decide
) -> Steps[list[TopicPartition]]:
    """Write what `decide` wants for each of these partitions that has a state; returns those that were changed."""
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
        ours = {each for each, new in lost.items() if _is(context.leadership.get(each), new)}
        changed += [each for each in lost if each in ours]
        pending = [each for each in lost if each not in ours]
    return changed


def create_states(
    context: ControllerContext, wanted: dict[TopicPartition, LeaderAndIsr]
) -> Steps[list[TopicPartition]]:
    """Create the state znodes of new partitions, with what is above them. A state that exists is adopted instead.

    Returns the partitions that have a state now; the others' topic is gone.
    """
    topics = [topic for topic in dict.fromkeys(each.topic for each in wanted) if not _has_states(context, topic)]
    outcomes = yield [
        *(Create(znodes.partitions(topic)) for topic in topics),
        *(Create(znodes.partition(each.topic, each.partition)) for each in wanted),
        *(Create(znodes.state(each), znodes.write_state(new)) for each, new in wanted.items()),
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
    return [each for each in wanted if each in context.leadership]


def read_states(context: ControllerContext, partitions: Collection[TopicPartition]) -> Steps[Stats]:
    """Adopt what ZooKeeper holds now; a partition without a readable state has no leadership. Returns the stats.

    What cannot be read is as it is with a new controller: the partition counts as new, and its state is watched.
    Raises ControllerMoved if a later controller wrote one of them.
    """
    stats, malformed = yield from _read(context, partitions)
    if malformed:
        watched, malformed = yield from _read(context, list(malformed), watch=True)
        stats |= watched
    for partition, problem in malformed.items():
        log.error("%s stays as it is until somebody mends its state: %s", partition, problem)
        if context.partition_state(partition) is not PartitionState.NON_EXISTENT:
            context.put_partition_state(partition, PartitionState.NEW)
    return stats


def _read(
    context: ControllerContext, partitions: Collection[TopicPartition], *, watch: bool = False
) -> Steps[tuple[Stats, dict[TopicPartition, MalformedZnode]]]:
    """The stats of those that could be read, and what is wrong with others."""
    stats: Stats = {}
    malformed = {}
    outcomes = yield from run([Get(znodes.state(each), watch) for each in partitions])
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
    """Whether a write that was refused had come through after all: its first answer was lost."""
    return found is not None and found.says_the_same(wanted)


def _has_states(context: ControllerContext, topic: str) -> bool:
    return any(each in context.leadership for each in context.partitions_of(topic))
