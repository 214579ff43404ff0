"""A controller that writes snapshots without the set of voters (against KIP-853, Snapshots; K853-05).

Once the log is cut behind such a snapshot, a controller that starts, or that fetches it, counts by its own file again.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.designs.quorum.raft.snapshot_files import SnapshotFiles
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K853-05", "K631-06"),
    scenarios=(),
    unit="tests/mutants/unknown/test_outlives.py::test_a_snapshot_holds_the_set_of_voters",
    kind=Kind.OUTLIVES,
)


def apply() -> None:
    honest = SnapshotFiles.write

    def without_voters(
        self: SnapshotFiles, snapshot: EpochEnd, values: Iterable[bytes], voters: VoterSet | None = None
    ) -> None:
        honest(self, snapshot, values)

    SnapshotFiles.write = without_voters  # type: ignore[method-assign]
