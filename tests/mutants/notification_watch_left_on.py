"""A controller that watches notifications of log dirs also at the raised level (against ReplicaStateEvent)."""

from __future__ import annotations

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller import notifications, startup
from cluster_impl.designs.zk_controller.controller.parts import Parts


def apply() -> None:
    honest = startup.elected

    def watchful(parts: Parts, epoch: int, now: float) -> Steps[None]:
        yield from honest(parts, epoch, now)
        yield from notifications.forget(znodes.LOG_DIR_EVENTS)

    startup.elected = watchful
