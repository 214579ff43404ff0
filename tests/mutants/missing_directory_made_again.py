"""A node that has run before creates a missing log dir anew, which hides the loss of its replicas (against DSTO-01)."""

from __future__ import annotations

from pathlib import Path

from fencepost.cluster_impl.storage import log_dirs
from tests.mutants.defect import LEADER_DRIVEN, ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK, LEADER_DRIVEN),
    rules=("DSTO-01",),
    scenarios=("one-of-two-disks-fails",),
    unit="tests/cluster_impl/storage/test_log_dirs.py::test_a_missing_folder_is_never_made_anew_once_the_node_has_run",
)


def apply() -> None:
    log_dirs._has_run = _never


def _never(path: Path) -> bool:
    return False
