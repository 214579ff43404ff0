"""A log that was stopped cleanly is opened without the times of its records (against DSTO-03)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fencepost.cluster_impl.storage.clean_stop import StoppedLog
from fencepost.cluster_impl.storage.log import Log
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-03",),
    scenarios=("log-start-moves",),
    unit=(
        "tests/cluster_impl/storage/test_clean_stop.py::"
        "test_after_a_clean_stop_nothing_is_read_and_all_answers_are_the_same"
    ),
)


def apply() -> None:
    honest = Log._adopt

    def forgetful(self: Log, stopped: StoppedLog, paths: list[Path]) -> None:
        timeless = tuple(replace(each, max_timestamp=-1) for each in stopped.segments)
        honest(self, replace(stopped, segments=timeless), paths)

    Log._adopt = forgetful  # type: ignore[method-assign]
