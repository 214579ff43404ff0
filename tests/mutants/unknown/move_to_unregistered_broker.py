"""A controller that begins to move a partition to a broker that is not registered (against KIP-455, error 39).

The move never ends, and nothing says why (ADM-02).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fencepost.cluster_impl.designs.quorum.controller import reassignment
from fencepost.cluster_impl.designs.shared.reassignment_requests import check_target
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("ADM-02", "D631-70"),
    scenarios=(),
    unit="tests/mutants/unknown/test_refusals.py::test_no_partition_moves_to_a_broker_that_is_not_registered",
    kind=Kind.REFUSALS,
)


def apply() -> None:
    def anywhere(
        target: Sequence[int], origin: Sequence[int], brokers: Collection[int], state: str, *, same_factor: bool
    ) -> None:
        check_target(target, origin, {*brokers, *target}, state, same_factor=same_factor)

    reassignment.check_target = anywhere  # type: ignore[attr-defined]
