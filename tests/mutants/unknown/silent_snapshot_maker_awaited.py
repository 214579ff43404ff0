"""An active controller that waits for ever for the snapshot of a controller that has gone (against D631-30, K631-25).

No other one is notified, so no log is cut until the active controller changes.
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.snapshot_schedule import SnapshotSchedule
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-30", "K631-25"),
    scenarios=(),
    unit="tests/mutants/unknown/test_timing.py::test_a_controller_that_went_silent_makes_way_for_another_snapshot",
    kind=Kind.TIMING,
)


def apply() -> None:
    honest = SnapshotSchedule.heard

    def heard(self: SnapshotSchedule, controller_id: int, snapshot_offset: int, stable_end: int, now: float) -> bool:
        if self._run is not None:
            self._run.heard_at = now
        return honest(self, controller_id, snapshot_offset, stable_end, now)

    SnapshotSchedule.heard = heard  # type: ignore[method-assign]
