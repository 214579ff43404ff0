"""A broker that waits for its id by the clock alone, so that silence of ZooKeeper counts as refusal (against decisions
DINT-17, DLD-01)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode, T


def apply() -> None:
    async def by_the_clock(self: OwnZnode, timeout: float, claiming: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wait_for(claiming, timeout)

    OwnZnode.within = by_the_clock  # type: ignore[method-assign]
