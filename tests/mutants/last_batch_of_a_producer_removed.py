"""Compaction that removes empty batches, also the last of a producer: a repeated one is taken again (DSTO-13)."""

from __future__ import annotations

from fencepost.cluster_impl.storage.compaction import _Latest
from fencepost.cluster_impl.wire.batches import Batch
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-13",),
    scenarios=("last-of-each-key",),
    unit="tests/cluster_impl/storage/test_compaction.py::test_the_last_batch_of_a_producer_stays_though_it_is_empty",
)


def apply() -> None:
    honest = _Latest.note

    def forget(self: _Latest, batch: Batch) -> None:
        honest(self, batch)
        if batch.has_producer_id:
            self._of_producer[batch.producer_id] = -1

    _Latest.note = forget  # type: ignore[method-assign]
