"""A controller that elects outside the ISR though the setting forbids it (KIP-966; against ISR-06)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fencepost.cluster_impl.designs.zk_controller.controller.state import selectors
from fencepost.cluster_impl.designs.zk_controller.controller.state.selectors import LeaderChoice
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KIP-966",
    designs=(ZK,),
    rules=("ISR-09", "DINT-13"),
    scenarios=("outside-the-isr",),
    unit="tests/cluster_impl/designs/zk_controller/controller",
)


def apply() -> None:
    honest = selectors.offline

    def always(
        replicas: Sequence[int],
        isr: Sequence[int],
        online: Collection[int],
        stopping: Collection[int],
        *,
        unclean: bool,
    ) -> LeaderChoice | None:
        return honest(replicas, isr, online, stopping, unclean=True)

    selectors.offline = always
