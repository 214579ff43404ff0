"""A leader that knows one batch of each producer once it has read its log (as finding 05; against CRD-06)."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.cluster_impl.storage.producers import ProducerStates
from fencepost.cluster_impl.wire.batches import Batch
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    kafka="finding 05",
    designs=ALL,
    rules=("CRD-06",),
    scenarios=("batches-retried",),
    unit="tests/cluster_impl/storage",
)


def apply() -> None:
    ProducerStates.rebuilt = classmethod(_rebuilt)  # type: ignore[assignment, method-assign]


def _rebuilt(cls: type[ProducerStates], batches: Iterable[Batch]) -> ProducerStates:
    """Build the states as a snapshot has them that keeps one batch of each producer."""
    states = cls()
    for batch in batches:
        states.update(batch)
    for producer in states._producers.values():
        while len(producer.batches) > 1:
            producer.batches.popleft()
    return states
