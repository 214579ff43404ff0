"""A controller that lets inactive and stopping brokers join an ISR (KAFKA-13916, KAFKA-14140; against KIP-343)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.controller.brokers import isr_change


def apply() -> None:
    kept = tuple(guard for guard in isr_change.ISR_CHANGE_GUARDS if "joins no ISR" not in guard.message)
    assert len(kept) == len(isr_change.ISR_CHANGE_GUARDS) - 2, "no guards of joining brokers"
    isr_change.ISR_CHANGE_GUARDS = kept  # type: ignore[assignment]
