"""A winner that writes the ISR without another epoch (against replication design V2, becomeLeader; decision DLD-04)."""

from __future__ import annotations

from cluster_impl.designs.leader_driven.partition import election
from cluster_impl.designs.leader_driven.znodes import InSync


def apply() -> None:
    election.InSync = _of_the_last_epoch  # type: ignore[assignment, attr-defined]


def _of_the_last_epoch(isr: tuple[int, ...], epoch: int) -> InSync:
    return InSync(isr, max(epoch - 1, 0))
