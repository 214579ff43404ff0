"""A leader that writes its ISR without comparing the state's version (against Kafka Internals (2017), Misc)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination.znodes import CreatedZnode, Stat, Znode
from fencepost.cluster_impl.designs.zk_controller.broker.isr_writes import IsrWriter, StateStore
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("INT-61",),
    scenarios=("two-leaders",),
    unit=(
        "tests/cluster_impl/designs/zk_controller/broker/test_isr_writes.py::"
        "test_a_leader_that_was_given_up_fails_to_shrink_and_changes_nothing"
    ),
)

ANY_VERSION = -1


class Overwriting:
    """A store that compares nothing."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    async def get(self, path: str) -> Znode:
        return await self._store.get(path)

    async def set(self, path: str, data: bytes, version: int) -> Stat:
        return await self._store.set(path, data, ANY_VERSION)

    async def create(self, path: str, data: bytes, *, sequence: bool) -> CreatedZnode:
        return await self._store.create(path, data, sequence=sequence)

    async def until_connected(self) -> None:
        await self._store.until_connected()


def apply() -> None:
    honest = IsrWriter.__init__

    def careless(self: IsrWriter, broker_id: int, store: StateStore, *rest: object) -> None:
        honest(self, broker_id, Overwriting(store), *rest)  # type: ignore[arg-type]

    IsrWriter.__init__ = careless  # type: ignore[method-assign, assignment]
