"""An active controller that says once that a snapshot is due (against K631-25: until the controller reports one).

If that answer is lost, no snapshot is made, and no other controller is notified as long as this one is heard.
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.snapshot_schedule import SnapshotSchedule
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-25", "D631-30"),
    scenarios=(),
    unit="tests/mutants/unknown/test_lost_answer.py::test_a_snapshot_is_asked_for_until_it_is_reported",
    kind=Kind.LOST_ANSWER,
)


def apply() -> None:
    honest = SnapshotSchedule.heard

    def heard(self: SnapshotSchedule, controller_id: int, snapshot_offset: int, stable_end: int, now: float) -> bool:
        run = self._run
        is_due = honest(self, controller_id, snapshot_offset, stable_end, now)
        return is_due and self._run is not run

    SnapshotSchedule.heard = heard  # type: ignore[method-assign]
