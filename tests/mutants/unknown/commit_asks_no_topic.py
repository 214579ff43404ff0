"""OffsetCommit that asks for READ on the group, and for nothing on the topics (against KIP-11, Operations)."""

from __future__ import annotations

from fencepost.cluster_impl.api.authorization import groups
from fencepost.cluster_impl.api.authorization.rules import Asker
from fencepost.cluster_impl.api.serving import Answer
from fencepost.cluster_impl.wire.server import Handler, Request
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-43",),
    scenarios=(),
    unit="tests/mutants/unknown/test_refusals.py::test_offsets_of_a_topic_are_committed_by_those_that_may_read_it",
    kind=Kind.REFUSALS,
)


def apply() -> None:
    def unasked(request: Request, asker: Asker, handler: Handler) -> Answer:
        return handler(request)

    groups._commit_topics = unasked
