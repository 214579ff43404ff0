"""DeleteAcls with several filters that deletes what the last one matches, and answers for all (against KIP-140)."""

from __future__ import annotations

from copy import copy

from fencepost.cluster_impl.designs.quorum.controller import acls, requests
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-66", "ADM-03"),
    scenarios=(),
    unit="tests/mutants/unknown/test_accepted.py::test_every_filter_of_delete_acls_deletes",
    kind=Kind.ACCEPTED,
)


def apply() -> None:
    honest = acls.delete_acls

    def last_alone(state: ControllerState, request: m.DeleteAclsRequest) -> ControllerResult[m.DeleteAclsResponse]:
        last = copy(request)
        last.filters = request.filters[-1:]
        return ControllerResult(honest(state, request).reply, honest(state, last).records)

    acls.delete_acls = last_alone
    requests.delete_acls = last_alone  # type: ignore[attr-defined]
