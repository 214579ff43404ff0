"""CreatePartitions that checks the assignment in the request, and places the partitions itself (against KIP-195).

They are on other brokers than the administrator asked for, and the answer says that all is well (TOPIC-04).
"""

from __future__ import annotations

from copy import copy

from fencepost.cluster_impl.designs.quorum.controller import create_partitions
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.designs.shared.partition_requests import MoreTopic
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("TOPIC-04",),
    scenarios=(),
    unit="tests/mutants/unknown/test_accepted.py::test_new_partitions_are_where_the_request_assigns_them",
    kind=Kind.ACCEPTED,
)


def apply() -> None:
    honest = create_partitions._new_partitions

    def placed(state: ControllerState, topic: MoreTopic, first_place: int, now: float) -> list[m.PartitionRecord]:
        honest(state, topic, first_place, now)
        unassigned = copy(topic)
        unassigned.assignments = None
        return honest(state, unassigned, first_place, now)

    create_partitions._new_partitions = placed
