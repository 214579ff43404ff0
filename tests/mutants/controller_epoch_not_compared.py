"""A broker that obeys a former controller (against DINT-05: requests are guarded by the controller epoch)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.broker import request_guards
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("DINT-05",),
    scenarios=("old-controller",),
    unit=(
        "tests/cluster_impl/designs/zk_controller/broker/test_controller_requests.py::"
        "test_a_newer_controller_shuts_the_older_one_out_also_by_a_request_without_partitions"
    ),
)


def apply() -> None:
    kept = tuple(guard for guard in request_guards.REQUEST_GUARDS if guard.error is not Error.STALE_CONTROLLER_EPOCH)
    request_guards.REQUEST_GUARDS = kept  # type: ignore[assignment]
