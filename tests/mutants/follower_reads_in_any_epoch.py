"""A follower that serves clients whatever leader epoch they name (against DRACK-05)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import ANY_EPOCH, Partition
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DRACK-05",),
    scenarios=("rack-reads-on",),
    unit="tests/cluster_impl/api/test_fetch.py::test_a_position_or_an_epoch_that_is_not_there_is_refused",
)


def apply() -> None:
    honest = Partition.check_reader

    def lenient(self: Partition, current_leader_epoch: int) -> Error:
        return honest(self, ANY_EPOCH)

    Partition.check_reader = lenient  # type: ignore[method-assign]
