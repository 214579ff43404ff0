"""A controller that marks a topic as being deleted and removes it in one batch (against D631-41)."""

from __future__ import annotations

from dataclasses import replace

from fencepost.cluster_impl.designs.quorum.controller import requests
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-41",),
    scenarios=("changes-are-records",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_controller.py::"
        "test_a_deletion_is_answered_when_the_topic_is_gone_and_marked_before"
    ),
)


def apply() -> None:
    honest = vars(requests)["delete_topics"]

    def at_once(
        state: ControllerState, request: m.DeleteTopicsRequest, version: int
    ) -> ControllerResult[m.DeleteTopicsResponse]:
        result: ControllerResult[m.DeleteTopicsResponse] = honest(state, request, version)
        marked = [record.topic_id for record in result.records if isinstance(record, m.TopicRecord)]
        return replace(result, records=[*result.records, *(m.DeleteTopicRecord(name=topic) for topic in marked)])

    vars(requests)["delete_topics"] = at_once
