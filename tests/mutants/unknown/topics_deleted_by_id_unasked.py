"""DeleteTopics that asks for DELETE on topics named by name, and for nothing on those named by id (against KIP-516)."""

from __future__ import annotations

from fencepost.cluster_impl.api.authorization import administration
from fencepost.cluster_impl.api.authorization.records import TopicName
from fencepost.cluster_impl.api.authorization.rules import Rule
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-43", "TOPIC-02"),
    scenarios=(),
    unit="tests/mutants/unknown/test_refusals.py::test_a_topic_is_deleted_by_its_id_by_those_that_may_delete_it",
    kind=Kind.REFUSALS,
)


def apply() -> None:
    honest = administration.delete_topics

    def by_name_only(topic_name: TopicName) -> Rule:
        return honest(lambda topic_id: None)

    administration.delete_topics = by_name_only
