"""Compaction that removes empty batches, also the last of a producer: a repeated one is taken again (DSTO-13)."""

from __future__ import annotations

from fencepost.cluster_impl.storage.compaction import _Latest
from fencepost.cluster_impl.wire.batches import Batch


def apply() -> None:
    honest = _Latest.note

    def forget(self: _Latest, batch: Batch) -> None:
        honest(self, batch)
        if batch.has_producer_id:
            self._of_producer[batch.producer_id] = -1

    _Latest.note = forget  # type: ignore[method-assign]
