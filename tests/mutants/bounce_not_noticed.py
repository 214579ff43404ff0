"""A controller that takes a new process for the old one (KAFKA-1120, KAFKA-7235, KAFKA-14139; against DINT-26)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.liveness import BrokerLiveness
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-1120",
    designs=(ZK,),
    rules=("DINT-26", "ACK-01"),
    scenarios=("bounce-unseen", "bounce-inside-the-session", "bounce-beyond-the-session", "emptied-follower"),
    unit="tests/cluster_impl/designs/zk_controller/controller",
)


def apply() -> None:
    honest = BrokerLiveness.reconcile

    def blind(self: BrokerLiveness) -> Steps[None]:
        now = self._live_now()
        self._context.live = {each: now.get(each, epoch) for each, epoch in self._context.live.items()}
        yield from honest(self)

    BrokerLiveness.reconcile = blind  # type: ignore[method-assign]
