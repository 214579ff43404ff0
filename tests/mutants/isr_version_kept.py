"""A leader that compares the ISR for ever with the version it saw first (KAFKA-2729: the ISR is frozen)."""

from __future__ import annotations

from cluster_impl.designs.leader_driven.partition.tenure import Tenure
from cluster_impl.designs.leader_driven.znodes import InSync


def apply() -> None:
    Tenure.adopt_isr = _nothing  # type: ignore[method-assign]


def _nothing(self: Tenure, now: InSync) -> None:
    return None
