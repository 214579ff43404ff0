"""Compaction that keeps the first record of a key in place of the last one (against DSTO-11)."""

from __future__ import annotations

from fencepost.cluster_impl.storage import compaction
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire.batches import Batch


def apply() -> None:
    def first(self: compaction._Latest, batch: Batch) -> None:
        for record in format_.parse(batch):
            if record.key is not None:
                self._offsets.setdefault(record.key, record.offset)

    compaction._Latest.note = first  # type: ignore[method-assign]
