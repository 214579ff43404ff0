"""Compaction that keeps the first record of a key in place of the last one (against DSTO-11)."""

from __future__ import annotations

from fencepost.cluster_impl.storage import compaction
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire.batches import Batch
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-11", "DSTO-14", "GRP-01"),
    scenarios=("last-of-each-key", "group-coordinator-killed"),
    unit="tests/cluster_impl/storage/test_compaction.py::test_the_last_record_of_each_key_stays_at_its_offset",
)


def apply() -> None:
    def first(self: compaction._Latest, batch: Batch) -> None:
        for record in format_.parse(batch):
            if record.key is not None:
                self._offsets.setdefault(record.key, record.offset)

    compaction._Latest.note = first  # type: ignore[method-assign]
