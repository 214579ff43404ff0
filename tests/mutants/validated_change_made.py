"""A controller that changes settings although the request asks only to validate (against ADM-01)."""

from __future__ import annotations

from copy import copy

from fencepost.cluster_impl.api.config_changes import AlterRequest, AlterResponse
from fencepost.cluster_impl.designs.quorum.controller import requests, settings
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("ADM-01",),
    scenarios=("administrators-ask",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_configs.py::"
        "test_a_request_that_only_validates_writes_nothing"
    ),
)


def apply() -> None:
    honest = settings.alter_configs

    def changing(state: ControllerState, request: AlterRequest) -> ControllerResult[AlterResponse]:
        meant = copy(request)
        meant.validate_only = False
        return honest(state, meant)

    settings.alter_configs = changing
    requests.alter_configs = changing  # type: ignore[attr-defined]
