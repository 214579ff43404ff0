"""A controller that grants a shutdown once: the broker that lost the answer is asked to stay (against K631-37).

Its id is free by then, and it waits with its end until a lease is over.
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-37",),
    scenarios=(),
    unit="tests/mutants/unknown/test_lost_answer.py::test_a_shutdown_is_granted_again",
    kind=Kind.LOST_ANSWER,
)


def apply() -> None:
    honest = heartbeats.heartbeat

    def once(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> heartbeats.HeartbeatResult:
        registered = request.broker_id in state.image.brokers
        outcome = honest(state, request, now)
        if outcome.reply.next_state == FenceState.SHUTDOWN and not registered:
            outcome.reply.next_state = FenceState.FENCED
        return outcome

    heartbeats.heartbeat = once
