"""A controller that lowers a feature level while the log holds records of the higher one (against KIP-584; D631-42)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import settings
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.designs.quorum.features import SUPPORTED
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-42", "ADM-02"),
    scenarios=(),
    unit="tests/mutants/unknown/test_refusals.py::test_no_feature_level_is_lowered",
    kind=Kind.REFUSALS,
)


def apply() -> None:
    honest = settings._check_level

    def either_way(state: ControllerState, name: str, level: int) -> None:
        if name not in SUPPORTED or level not in SUPPORTED[name] or level >= state.image.level_of(name):
            honest(state, name, level)

    settings._check_level = either_way
