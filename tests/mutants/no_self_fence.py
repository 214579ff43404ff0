"""A broker that serves on when its lease has run out (against KIP-631, Fencing; decision D631-01)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle, LeaseLoss
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-01", "K631-32"),
    scenarios=("cut-from-controllers-cut",),
    unit=(
        "tests/cluster_impl/designs/quorum/broker/test_lifecycle.py::"
        "test_a_process_that_slept_through_its_lease_is_fenced_before_any_timer_runs"
    ),
)


def apply() -> None:
    LeaseLifecycle.serving = _serving  # type: ignore[method-assign]


def _serving(self: LeaseLifecycle, now: float) -> bool:
    return self.state is FenceState.ACTIVE or self.loss is LeaseLoss.RAN_OUT
