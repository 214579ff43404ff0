"""A leader that answers ListOffsets while it is fenced, with an end that is no longer the end (KIP-631, Fencing)."""

from __future__ import annotations

from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, ZK, Defect, Kind
from tests.mutants.unknown.ungated import serve_always

DEFECT = Defect(
    __name__,
    designs=(QUORUM, ZK),
    rules=("K631-32",),
    scenarios=(),
    unit="tests/mutants/unknown/test_minority.py::test_a_fenced_leader_lists_no_offsets",
    kind=Kind.MINORITY,
)


def apply() -> None:
    serve_always(m.ListOffsetsRequest)
