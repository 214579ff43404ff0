"""A broker that knows the controllers of its own file only, not the voters of now (against KIP-631, Nodes)."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-05", "K631-06"),
    scenarios=("controller-replaced",),
    unit=(
        "tests/cluster_impl/designs/quorum/broker/test_finder.py::"
        "test_a_controller_that_the_quorum_named_is_believed_though_it_is_not_configured"
    ),
)


def apply() -> None:
    ControllerFinder.voters_named = _ignore  # type: ignore[method-assign]


def _ignore(self: ControllerFinder, addresses: Mapping[int, tuple[str, int]]) -> None:
    """Learn no address."""
