"""Writing the ISR as the leader of an epoch: compare-and-set at the version that this leader knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from fencepost.cluster_impl.coordination.steps import Done, Found, SetData, Steps, read
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState
from fencepost.cluster_impl.replication.control_plane import TopicPartition


def write_once(partition: TopicPartition, wanted: IsrState) -> Steps[IsrState | None]:
    """Write `wanted` at its version. Return it with its new version if written, else what /ISR holds; None if it is
    absent.

    Raises MalformedZnode.
    """
    [outcome] = yield [SetData(znodes.isr(partition), znodes.write_isr(wanted), wanted.version)]
    if isinstance(outcome, Done):
        return replace(wanted, version=outcome.version)
    return (yield from read_isr(partition))


def write(
    partition: TopicPartition, known: IsrState, change: Callable[[tuple[int, ...]], Iterable[int]]
) -> Steps[IsrState | None]:
    """Apply `change` to the ISR within the epoch of `known`, and return the written state; None if the epoch is over.

    Within its epoch only the leader writes /ISR, but its data plane may write at the same time, so a lost
    compare-and-set is repeated on top of the newer state. Raises MalformedZnode.
    """
    while True:
        wanted = replace(known, isr=tuple(change(known.isr)))
        now = yield from write_once(partition, wanted)
        if now is None or now.epoch != known.epoch:
            return None
        if now.version == wanted.version + 1 and now.isr == wanted.isr:
            return now
        known = now


def read_isr(partition: TopicPartition) -> Steps[IsrState | None]:
    """Return what /ISR holds, or None if it is absent. Raises MalformedZnode."""
    found = yield from read(znodes.isr(partition))
    return znodes.read_isr(partition, found.data, found.stat.version) if isinstance(found, Found) else None
