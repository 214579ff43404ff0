"""Writing the ISR as the leader of an epoch: compare-and-set at the version that this leader knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from cluster_impl.coordination.steps import Done, Found, SetData, Steps, read
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.znodes import InSync
from cluster_impl.replication.control_plane import TopicPartition


def write_once(partition: TopicPartition, wanted: InSync) -> Steps[InSync | None]:
    """`wanted` if it could be written on top of its version. Else what is there; None if nothing is."""
    [outcome] = yield [SetData(znodes.isr(partition), znodes.write_isr(wanted), wanted.version)]
    if isinstance(outcome, Done):
        return replace(wanted, version=outcome.version)
    return (yield from read_isr(partition))


def write(
    partition: TopicPartition, known: InSync, change: Callable[[tuple[int, ...]], Iterable[int]]
) -> Steps[InSync | None]:
    """What `change` makes of the ISR, in the epoch of `known`. None if the epoch is over.

    Within its epoch only the leader writes, but its data plane may do so beside this.
    """
    while True:
        wanted = replace(known, isr=tuple(change(known.isr)))
        now = yield from write_once(partition, wanted)
        if now is None or now.epoch != known.epoch:
            return None
        if now.version == wanted.version + 1 and now.isr == wanted.isr:
            return now
        known = now


def read_isr(partition: TopicPartition) -> Steps[InSync | None]:
    """Raises MalformedZnode."""
    found = yield from read(znodes.isr(partition))
    return znodes.read_isr(partition, found.data, found.stat.version) if isinstance(found, Found) else None
