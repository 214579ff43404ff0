"""A controller that expects heartbeats of legacy brokers, which send none (against KIP-343, Compatibility)."""

from __future__ import annotations

from cluster_impl.designs.zk_controller.controller import heartbeats


def apply() -> None:
    heartbeats.FIRST_VERSION_WITH_HEARTBEATS = 0
