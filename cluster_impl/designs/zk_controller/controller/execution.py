"""Runs the steps of a core on ZooKeeper, every write guarded by the epoch that this controller was elected with.

An old controller cannot write: each write travels in a multi that first checks the version of /controller_epoch, which
every election raises.
"""

from __future__ import annotations

from typing import TypeVar

from cluster_impl.coordination import znodes as zk
from cluster_impl.coordination.execution import Execution, GuardFailed
from cluster_impl.coordination.steps import Steps
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.zk_controller.controller.moved import ControllerMoved
from cluster_impl.designs.zk_controller.znodes import CONTROLLER_EPOCH

T = TypeVar("T")


class GuardedExecution(Execution):
    """Of one term."""

    def __init__(self, zookeeper: ZooKeeper, epoch_version: int, watch: zk.Watch) -> None:
        super().__init__(zookeeper, watch, zk.Check(CONTROLLER_EPOCH, epoch_version))

    async def run(self, steps: Steps[T]) -> T:
        """Raises ControllerMoved or SessionExpired when the term is over; the steps are closed then."""
        try:
            return await super().run(steps)
        except GuardFailed as refusal:
            raise ControllerMoved("/controller_epoch was raised by another controller") from refusal
