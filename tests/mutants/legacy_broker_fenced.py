"""A legacy broker that fences itself when no controller answers it (against KIP-343, Compatibility)."""

from __future__ import annotations

from typing import Any

from fencepost.cluster_impl.config.ibp import Ibp
from fencepost.cluster_impl.designs.zk_controller.broker.broker import Broker
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("K343-59",),
    scenarios=("mixed-cluster-legacy-leader",),
    unit=(
        "tests/cluster_impl/designs/zk_controller/test_ibp.py::"
        "test_a_level_turns_on_what_it_is_for_and_what_came_before"
    ),
)


def apply() -> None:
    honest = Broker.__init__

    def fencing(self: Broker, *given: Any) -> None:
        honest(self, *given)
        if self._settings.ibp is Ibp.BASE:
            self.control._isr_changes = self._writer

    # It counts its own silence, and is in all else what it was: registered as legacy, with ISRs that it writes itself.
    Broker.__init__ = fencing  # type: ignore[method-assign, assignment]
    Ibp.has_heartbeats = property(lambda level: True)  # type: ignore[method-assign, assignment]
    Ibp.broker_info_version = property(_version)  # type: ignore[method-assign, assignment]


def _version(level: Ibp) -> int:
    return 4 if level is Ibp.BASE else 5
