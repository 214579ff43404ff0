"""A new active controller that does not go on with the reassignments under way (against D631-70, ADM-05).

The copy of the image with which a term begins lacks the index of moving partitions; they list no move, and stay so.
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-70", "ADM-05"),
    scenarios=(),
    unit="tests/mutants/unknown/test_outlives.py::test_a_new_term_knows_the_reassignments_under_way",
    kind=Kind.OUTLIVES,
)


def apply() -> None:
    honest = MetadataImage.copy

    def without_moves(self: MetadataImage) -> MetadataImage:
        copied = honest(self)
        copied.reassigned = {}
        return copied

    MetadataImage.copy = without_moves  # type: ignore[method-assign]
