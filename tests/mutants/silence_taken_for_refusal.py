"""A broker that waits for its id by the clock alone, so that silence of ZooKeeper counts as refusal (against decisions
DINT-17, DLD-01)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode, T
from tests.mutants.defect import LEADER_DRIVEN, ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK, LEADER_DRIVEN),
    rules=("DINT-17", "DLD-01"),
    scenarios=("waits-for-its-id-unheard",),
    unit=(
        "tests/cluster_impl/designs/on_zookeeper/test_ephemeral.py::"
        "test_a_process_that_hears_nothing_waits_on_and_takes_what_it_finds_free"
    ),
)


def apply() -> None:
    async def by_the_clock(self: OwnZnode, timeout: float, claiming: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wait_for(claiming, timeout)

    OwnZnode.within = by_the_clock  # type: ignore[method-assign]
