"""A controller that gives metadata records an empty key in place of none (against K631-19)."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.cluster_impl.designs.quorum.raft import metadata_log
from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-19",),
    scenarios=("changes-are-records",),
    unit="tests/cluster_impl/designs/quorum/raft/test_metadata_log.py::test_records_have_values_and_no_keys",
)


def apply() -> None:
    def append_records(self: MetadataLog, base_offset: int, epoch: int, records: Sequence[bytes]) -> None:
        now = metadata_log._milliseconds()
        self._append([(b"", record, now) for record in records], base_offset, epoch, control=False)

    MetadataLog.append_records = append_records  # type: ignore[method-assign]
