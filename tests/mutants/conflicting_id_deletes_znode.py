"""A broker that deletes the znode of the process that has its id (KAFKA-1971; against DINT-17)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination.errors import NodeExistsError, NoNodeError
from fencepost.cluster_impl.coordination.znodes import Stat
from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-1971",
    designs=(ZK,),
    rules=("DINT-17",),
    scenarios=("duplicate-id-at-the-znode", "id-taken-after-expiry"),
    unit="tests/cluster_impl/designs/on_zookeeper",
)


def apply() -> None:
    honest = OwnZnode.hold

    async def ruthless(self: OwnZnode, data: bytes) -> Stat:
        try:
            return await honest(self, data)
        except NodeExistsError:
            found = await self._zookeeper.exists(self.path)
            if found is not None:
                try:
                    await self._zookeeper.delete(self.path, found.version)
                except NoNodeError:
                    pass
            raise

    OwnZnode.hold = ruthless  # type: ignore[method-assign]
