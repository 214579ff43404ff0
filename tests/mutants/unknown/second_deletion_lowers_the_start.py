"""DeleteRecords below the start of a log that writes the lower start down (against KIP-107: the start never goes back).

The answer is right; after a restart the records between both starts are shown again (DSTO-07).
"""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import Replica
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-07",),
    scenarios=(),
    unit="tests/mutants/unknown/test_second_time.py::test_a_second_deletion_below_the_first_brings_nothing_back",
    kind=Kind.SECOND_TIME,
)


def apply() -> None:
    honest = Replica.delete_records

    def noting(self: Replica, before: int) -> int:
        offset = honest(self, before)
        if offset < self.log.log_start_offset:
            self._note_start(offset)
        return offset

    Replica.delete_records = noting  # type: ignore[method-assign]
