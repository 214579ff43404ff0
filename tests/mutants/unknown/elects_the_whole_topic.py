"""ElectLeaders that moves every partition of a topic of which it names one (against KIP-460; D631-71, LEAD-01)."""

from __future__ import annotations

from copy import copy

from fencepost.cluster_impl.designs.quorum.controller import elect_leaders, requests
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-71", "LEAD-01"),
    scenarios=(),
    unit="tests/mutants/unknown/test_accepted.py::test_an_election_moves_the_partitions_that_it_names_alone",
    kind=Kind.ACCEPTED,
)


def apply() -> None:
    honest = elect_leaders.elect_leaders

    def of_topics(
        state: ControllerState, request: m.ElectLeadersRequest, now: float
    ) -> ControllerResult[m.ElectLeadersResponse]:
        outcome = honest(state, request, now)
        if request.topic_partitions is None:
            return outcome
        whole = copy(request)
        whole.topic_partitions = [
            m.ElectLeadersRequest.TopicPartitions(
                topic=named.topic, partitions=list(state.image.partitions[state.image.topics[named.topic].id])
            )
            for named in request.topic_partitions
            if named.topic in state.image.topics
        ]
        return ControllerResult(outcome.reply, honest(state, whole, now).records)

    elect_leaders.elect_leaders = of_topics
    requests.elect_leaders = of_topics  # type: ignore[attr-defined]
