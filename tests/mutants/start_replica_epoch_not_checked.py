"""A broker that starts replicas for a leader of the past (against replication design V2, stateChangeListener)."""

from __future__ import annotations

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.leader_driven.state_changes import handling
from cluster_impl.designs.leader_driven.state_changes.request import StateChangeRequest


def apply() -> None:
    handling._later_epoch = _none


def _none(request: StateChangeRequest) -> Steps[int | None]:
    yield from ()
    return None
