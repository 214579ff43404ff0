"""A broker that loads a snapshot and looks at its replicas in it, not at those that are gone (D631-30, D631-70).

A replica that moved away while the broker was behind leads or follows on, and stays on its disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from fencepost.cluster_impl.designs.quorum.broker.metadata import BrokerMetadata
from fencepost.cluster_impl.designs.quorum.image import MetadataRecord
from fencepost.cluster_impl.wire.records import decode_record
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-30", "D631-70"),
    scenarios=(),
    unit="tests/mutants/unknown/test_away.py::test_a_replica_that_a_snapshot_does_not_have_is_removed",
    kind=Kind.AWAY,
)


def apply() -> None:
    def of_present(self: BrokerMetadata, values: Sequence[bytes], end_offset: int) -> None:
        self.image.load((cast("MetadataRecord", decode_record(value)) for value in values), end_offset)
        self._pass_on(dict.fromkeys(self._mine()))

    BrokerMetadata.on_snapshot = of_present  # type: ignore[method-assign]
