"""A coordinator that answers OffsetFetch while it is fenced (against KIP-631, Fencing; GRP-01).

Its successor may have taken commits meanwhile: a consumer that begins by this answer reads again what was read.
"""

from __future__ import annotations

from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, ZK, Defect, Kind
from tests.mutants.unknown.ungated import serve_always

DEFECT = Defect(
    __name__,
    designs=(QUORUM, ZK),
    rules=("K631-32", "GRP-01"),
    scenarios=(),
    unit="tests/mutants/unknown/test_minority.py::test_a_fenced_coordinator_shows_no_offsets",
    kind=Kind.MINORITY,
)


def apply() -> None:
    serve_always(m.OffsetFetchRequest)
