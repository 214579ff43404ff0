"""A controller that writes one snapshot in its life (against KIP-630, When to Snapshot; D631-30, K631-25).

It takes each later one for one that is being written, so its log grows for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.designs.quorum.raft.snapshots import NodeSnapshots
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-30", "K631-25"),
    scenarios=(),
    unit="tests/mutants/unknown/test_second_time.py::test_a_controller_writes_a_second_snapshot",
    kind=Kind.SECOND_TIME,
)


def apply() -> None:
    honest = NodeSnapshots._write

    async def left_on(self: NodeSnapshots, point: EpochEnd, values: Iterator[bytes], voters: VoterSet | None) -> None:
        await honest(self, point, values, voters)
        self._writing = True

    NodeSnapshots._write = left_on  # type: ignore[method-assign]
