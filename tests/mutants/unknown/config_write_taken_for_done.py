"""A broker that takes a change of settings for made if ZooKeeper's answer is lost (against decision 0061, ADM-04)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination.errors import ConnectionLost
from fencepost.cluster_impl.designs.on_zookeeper.config_writes import ConfigWriter
from tests.mutants.defect import LEADER_DRIVEN, ZK, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(ZK, LEADER_DRIVEN),
    rules=("ADM-04",),
    scenarios=(),
    unit="tests/mutants/unknown/test_lost_answer.py::test_a_change_of_settings_is_made_before_it_is_answered",
    kind=Kind.LOST_ANSWER,
)


def apply() -> None:
    honest = ConfigWriter._write

    async def write(self: ConfigWriter, *args, **kwargs) -> None:  # type: ignore[no-untyped-def]
        try:
            await honest(self, *args, **kwargs)
        except ConnectionLost:
            await self._zookeeper.until_connected()

    ConfigWriter._write = write  # type: ignore[method-assign]
