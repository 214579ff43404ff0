"""A controller that finishes a move once the live target replicas are in sync (against Kafka Internals (2017)).

All of TRS have to be in the ISR; the old replicas are deleted while a new one is away.
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.controller.topics.reassignment import Reassignments
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.mutants.defect import ZK, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("ADM-05",),
    scenarios=(),
    unit="tests/mutants/unknown/test_away.py::test_a_controller_waits_for_each_replica_of_the_target",
    kind=Kind.AWAY,
)


def apply() -> None:
    honest = Reassignments._is_in_sync

    def of_live(self: Reassignments, partition: TopicPartition) -> bool:
        known = self._context.leadership.get(partition)
        live = [replica for replica in self._assigned(partition).target if replica in self._context.live]
        return honest(self, partition) or (known is not None and bool(live) and set(live) <= set(known.isr))

    Reassignments._is_in_sync = of_live  # type: ignore[method-assign]
