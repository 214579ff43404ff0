"""A broker that obeys a former controller (against DINT-05: requests are guarded by the controller epoch)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.broker import request_guards
from fencepost.cluster_impl.wire.errors import Error


def apply() -> None:
    kept = tuple(guard for guard in request_guards.REQUEST_GUARDS if guard.error is not Error.STALE_CONTROLLER_EPOCH)
    request_guards.REQUEST_GUARDS = kept  # type: ignore[assignment]
