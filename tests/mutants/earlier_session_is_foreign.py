"""A broker that takes the znode of its own earlier session for another process's (KAFKA-7165; against Kafka
Controller Internals, Broker failover)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination.znodes import Stat
from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-7165",
    designs=(ZK,),
    rules=("DINT-17",),
    scenarios=("zookeeper-leader-unheard",),
    unit=(
        "tests/cluster_impl/designs/zk_controller/broker/test_registration_kept.py::"
        "test_a_broker_waits_for_the_znode_of_its_own_earlier_session_to_go"
    ),
)


def apply() -> None:
    honest = OwnZnode.hold

    async def forgetful(self: OwnZnode, data: bytes) -> Stat:
        self._sessions.clear()
        return await honest(self, data)

    OwnZnode.hold = forgetful  # type: ignore[method-assign]
