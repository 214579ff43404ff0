"""A controller that changes an ISR for a process that lost its id (against the decision: error codes, 77)."""

from __future__ import annotations

from cluster_impl.designs.quorum.controller import alter_isr
from cluster_impl.designs.quorum.controller.state import ControllerState
from cluster_impl.wire import messages as m


def apply() -> None:
    alter_isr.comes_from_a_stale_process = _never


def _never(state: ControllerState, request: m.AlterIsrRequest) -> bool:
    return False
