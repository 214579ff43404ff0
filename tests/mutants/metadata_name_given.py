"""A controller that lets a user create a topic by a name of the metadata topic (against ADM-02)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft import metadata_topic
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14358",
    designs=(QUORUM,),
    rules=("ADM-02",),
    scenarios=("administrators-ask",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_topics.py::"
        "test_a_topic_that_cannot_be_is_refused_and_changes_nothing"
    ),
)


def apply() -> None:
    vars(metadata_topic)["NAMES"] = ()
