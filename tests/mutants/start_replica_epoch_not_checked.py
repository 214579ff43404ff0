"""A broker that starts replicas for a former leader (against replication design V2, stateChangeListener)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.leader_driven.state_changes import handling
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChangeRequest


def apply() -> None:
    handling._later_epoch = _none


def _none(request: StateChangeRequest) -> Steps[int | None]:
    yield from ()
    return None
