"""A leader that acknowledges a repeated batch at once, committed or not (against KIP-98; ACK-01, HW-02).

The producer repeats it because the answer was lost, or late because the followers are, and takes it for safe.
"""

from __future__ import annotations

from dataclasses import replace

from fencepost.cluster_impl.replication.replica import ProducedRecords, Replica
from fencepost.cluster_impl.wire.codec import Buffer
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("ACK-01", "HW-02", "CRD-06"),
    scenarios=(),
    unit="tests/mutants/unknown/test_lost_answer.py::test_a_repeated_batch_waits_for_its_commit",
    kind=Kind.LOST_ANSWER,
)


def apply() -> None:
    honest = Replica.append_as_leader

    def append(self: Replica, records: Buffer | None, acks: int, now: float) -> ProducedRecords:
        end = self.log.log_end_offset
        appended = honest(self, records, acks, now)
        is_repeated = self.log.log_end_offset == end
        return replace(appended, next_offset=self.core.high_watermark) if is_repeated else appended

    Replica.append_as_leader = append  # type: ignore[method-assign]
