"""A new coordinator that answers before it has read its log: groups seem to have no offsets (against DSTO-15)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from fencepost.cluster_impl.api.groups.coordinator import Shard
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-15", "GRP-01"),
    scenarios=("group-coordinator-killed",),
    unit=(
        "tests/cluster_impl/replication/test_compaction.py::"
        "test_a_new_coordinator_loads_in_slices_and_refuses_until_it_knows_all_offsets"
    ),
)

LATE_S = 1.0
"""The log of a scenario is read in no time: that of a large cluster takes so long."""


def apply() -> None:
    honest = Shard._load

    async def late(self: Shard, steps: Iterator[bool]) -> None:
        await asyncio.sleep(LATE_S)
        await honest(self, steps)

    def load(self: Shard) -> None:
        task = asyncio.create_task(late(self, self._steps()))
        task.add_done_callback(tasks.discard)
        tasks.add(task)

    tasks: set[asyncio.Task[None]] = set()
    Shard.load = load  # type: ignore[method-assign]
