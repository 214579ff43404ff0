"""A controller that watches notifications of log dirs also at the raised level (against ReplicaStateEvent)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller import startup
from fencepost.cluster_impl.designs.zk_controller.controller.brokers import notifications
from fencepost.cluster_impl.designs.zk_controller.controller.components import Components
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("RSE-05",),
    scenarios=("log-dir-fails-on-a-leader",),
    unit=(
        "tests/cluster_impl/designs/zk_controller/controller/test_startup_watches.py::"
        "test_notifications_of_log_dirs_are_watched_below_the_level_of_replica_events_only"
    ),
)


def apply() -> None:
    honest = startup.elected

    def watchful(components: Components, epoch: int, now: float) -> Steps[None]:
        yield from honest(components, epoch, now)
        yield from notifications.forget(znodes.LOG_DIR_EVENTS)

    startup.elected = watchful
