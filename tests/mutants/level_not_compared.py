"""A controller that writes records above the level of metadata.format (against K631-21)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import acls
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-21", "D631-42"),
    scenarios=("metadata-format-raised",),
    unit="tests/cluster_impl/designs/quorum/controller/test_acls.py::test_below_level_2_there_are_no_entries",
)


def apply() -> None:
    vars(acls)["ACCESS_CONTROL"] = 1
