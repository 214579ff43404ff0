"""A broker that gives up at once if its id is still registered (KAFKA-19047; against DINT-17)."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode, T
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-19047",
    designs=(ZK,),
    rules=("DINT-17", "LIVE-01"),
    scenarios=("bounce-unseen", "bounce-inside-the-session", "rolling-restart"),
    unit="tests/cluster_impl/designs/on_zookeeper",
)


def apply() -> None:
    honest = OwnZnode.within

    async def impatient(self: OwnZnode, timeout: float, claiming: Coroutine[Any, Any, T]) -> T:
        return await honest(self, 0.2, claiming)

    OwnZnode.within = impatient  # type: ignore[method-assign]
