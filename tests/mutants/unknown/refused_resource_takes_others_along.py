"""A controller that changes no resource of a request if one is refused, and answers as if it had (against KIP-339).

Each resource of AlterConfigs and IncrementalAlterConfigs is decided on its own (ADM-04).
"""

from __future__ import annotations

from fencepost.cluster_impl.api.config_changes import AlterRequest, AlterResponse
from fencepost.cluster_impl.designs.quorum.controller import requests, settings
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("ADM-04",),
    scenarios=(),
    unit="tests/mutants/unknown/test_accepted.py::test_a_refused_resource_leaves_the_others_of_its_request_alone",
    kind=Kind.ACCEPTED,
)


def apply() -> None:
    honest = settings.alter_configs

    def all_or_none(state: ControllerState, request: AlterRequest) -> ControllerResult[AlterResponse]:
        outcome = honest(state, request)
        refused = any(result.error_code for result in outcome.reply.responses)
        return ControllerResult(outcome.reply, () if refused else outcome.records)

    settings.alter_configs = all_or_none
    requests.alter_configs = all_or_none  # type: ignore[attr-defined]
