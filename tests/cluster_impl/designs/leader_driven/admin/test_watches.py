from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from fencepost.cluster_impl.coordination.watches import Watched, WatchTable
from fencepost.cluster_impl.coordination.znodes import Stat, Watch, Znode
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven.admin.zookeeper_executor import ZooKeeperExecutor


class Unchanging:
    """Stands in for `ZooKeeper`: every znode is there, and stays."""

    session_id = 1

    def __init__(self) -> None:
        self.table = WatchTable()

    async def get(self, path: str, watch: Watch | None) -> Znode:
        assert watch is not None
        self.table.arm(Watched.DATA, path, watch, 1)
        return Znode(b"", Stat(1, 1, 1, 0, 0))

    async def get_many(self, paths: Sequence[str]) -> list[Znode | None]:
        return [Znode(b"", Stat(1, 1, 1, 0, 0)) for _ in paths]

    def forget(self, watch: Watch) -> None:
        self.table.forget(watch)


async def test_what_was_waited_for_in_vain_is_watched_no_more() -> None:
    zookeeper = Unchanging()
    executor = ZooKeeperExecutor(cast("ZooKeeper", zookeeper))
    await executor.gone(["/a", "/b"], 0.02)
    assert len(zookeeper.table) == 0
