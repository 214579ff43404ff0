"""A broker that accepts new requests while it is fenced (against KIP-343, Broker-Side Heartbeat Timeout)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.broker.lifecycle import Fence, Lifecycle
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("K343-18",),
    scenarios=("silent-broker-cut",),
    unit=(
        "tests/cluster_impl/designs/zk_controller/broker/test_lifecycle.py::"
        "test_a_process_that_slept_through_the_timeout_is_fenced_before_any_timer_runs"
    ),
)


def apply() -> None:
    Lifecycle.serving = _serving  # type: ignore[method-assign]


def _serving(self: Lifecycle, now: float) -> bool:
    return self.fence not in (Fence.NOT_REGISTERED, Fence.NOT_ANSWERED)
