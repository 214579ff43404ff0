"""DeleteRecords that asks for READ on the topic in place of DELETE (against KIP-107, Security)."""

from __future__ import annotations

from fencepost.cluster_impl.api.authorization import records
from fencepost.cluster_impl.api.authorization.rules import each
from fencepost.cluster_impl.security.entries import AclOperation
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-43",),
    scenarios=(),
    unit="tests/mutants/unknown/test_refusals.py::test_readers_of_a_topic_delete_no_records",
    kind=Kind.REFUSALS,
)


def apply() -> None:
    records.delete_records = each(
        "topics", lambda topic, asker: asker.topic(AclOperation.READ, topic.name), "topics", records._kept
    )
