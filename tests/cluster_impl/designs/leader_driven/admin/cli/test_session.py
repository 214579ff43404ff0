from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, cast

import pytest

from fencepost.cluster_impl.coordination.errors import CoordinationError
from fencepost.cluster_impl.coordination.steps import Exists, Steps
from fencepost.cluster_impl.designs.leader_driven.admin.cli import session
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import ProcedureExecutor, carry_out


class Silent:
    """A ZooKeeper that was lost and does not come back."""

    async def run(self, steps: Steps[Any]) -> Any:
        await asyncio.Event().wait()

    async def gone(self, paths: Collection[str], within: float) -> None:
        await asyncio.sleep(within)


def look() -> Steps[None]:
    yield [Exists("/any")]


async def test_a_command_whose_zookeeper_is_lost_ends_in_a_message() -> None:
    with pytest.raises(CoordinationError, match=r"ZooKeeper did not answer for 0\.05 s"):
        async with asyncio.timeout(20):
            await carry_out(
                look(),
                session.TimeLimitedExecutor(cast("ProcedureExecutor", Silent()), 0.05),
                asyncio.get_running_loop().time,
            )
