"""A controller that accepts the heartbeats of an earlier incarnation (against KIP-343, Controller Logic)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.controller.brokers import broker_states
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("K343-27", "K343-40"),
    scenarios=("newer-incarnation-wins",),
    unit=(
        "tests/cluster_impl/designs/zk_controller/controller/test_broker_heartbeats.py::"
        "test_an_earlier_incarnation_is_refused_also_by_the_next_controller"
    ),
)


def apply() -> None:
    kept = tuple(guard for guard in broker_states.HEARTBEAT_GUARDS if "later incarnation" not in guard.message)
    assert len(kept) == len(broker_states.HEARTBEAT_GUARDS) - 1, "no guard compares incarnations"
    broker_states.HEARTBEAT_GUARDS = kept  # type: ignore[assignment]
