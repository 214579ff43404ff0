"""A broker that goes on asking the controller that it believes in, though that one does not answer (KIP-631, Nodes)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-13", "K631-05", "K631-03"),
    scenarios=("combined-nodes", "active-controller-killed"),
    unit=(
        "tests/cluster_impl/designs/quorum/broker/test_finder.py::"
        "test_it_believes_what_was_reported_last_until_that_fails"
    ),
)


def apply() -> None:
    honest = ControllerFinder.failed

    def faithful(self: ControllerFinder, controller_id: int) -> None:
        if self._believed is None:
            honest(self, controller_id)

    ControllerFinder.failed = faithful  # type: ignore[method-assign]
