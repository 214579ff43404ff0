"""A broker that waits for a controller for 30 s, whatever timeout an administrator's request has (KIP-4, timeout_ms).

The client gives up before, and learns neither an error nor the outcome (ADM-02).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import copy

from fencepost.cluster_impl.designs.quorum.broker import control_plane as of_quorum
from fencepost.cluster_impl.designs.shared import forwarding
from fencepost.cluster_impl.designs.zk_controller.broker import control_plane as of_zk
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import QUORUM, ZK, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM, ZK),
    rules=("ADM-02",),
    scenarios=(),
    unit="tests/mutants/unknown/test_timing.py::test_a_request_is_answered_within_its_own_timeout",
    kind=Kind.TIMING,
)


def apply() -> None:
    honest = forwarding.forward

    async def patient(
        request: Message,
        version: int,
        ask: forwarding.Ask,
        not_controller: Callable[[int], None] = lambda _: None,
        refusals: Collection[Error] = (Error.NOT_CONTROLLER,),
    ) -> Message:
        waiting = copy(request)
        if hasattr(waiting, "timeout_ms"):
            waiting.timeout_ms = forwarding.DEFAULT_TIMEOUT_MS
        return await honest(waiting, version, ask, not_controller, refusals)

    forwarding.forward = patient
    for module in (of_quorum, of_zk):
        vars(module)["forward"] = patient
