"""A broker that obeys requests for an earlier incarnation of it (KAFKA-7235; against DINT-05)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.broker import request_guards
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-7235",
    designs=(ZK,),
    rules=("DINT-06",),
    scenarios=("stale-commands", "old-controller"),
    unit="tests/cluster_impl/designs/zk_controller",
)


def apply() -> None:
    kept = tuple(guard for guard in request_guards.REQUEST_GUARDS if guard.error is not Error.STALE_BROKER_EPOCH)
    request_guards.REQUEST_GUARDS = kept  # type: ignore[assignment]
