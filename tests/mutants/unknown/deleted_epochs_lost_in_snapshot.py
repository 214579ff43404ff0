"""A snapshot without the highest epoch of deleted topics: a topic made again under its name begins below the old one.

Clients and followers that knew the earlier topic take the news of the later one for old (decision 0053; compare
KIP-320, and KIP-516 on topics that are made again).
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.cluster_impl.designs.quorum import snapshot_records
from fencepost.cluster_impl.designs.quorum.controller import controller
from fencepost.cluster_impl.designs.quorum.image import NO_EPOCH, MetadataImage, MetadataRecord
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-23", "D631-17"),
    scenarios=(),
    unit="tests/mutants/unknown/test_outlives.py::test_a_topic_made_again_begins_above_the_deleted_one_after_a_snapshot",
    kind=Kind.OUTLIVES,
)


def apply() -> None:
    honest = snapshot_records.snapshot_records

    def forgetful(image: MetadataImage) -> Iterator[MetadataRecord]:
        for record in honest(image):
            if isinstance(record, m.HistoryRecord):
                record.deleted_leader_epoch = NO_EPOCH
            yield record

    snapshot_records.snapshot_records = forgetful
    controller.snapshot_records = forgetful  # type: ignore[attr-defined]
