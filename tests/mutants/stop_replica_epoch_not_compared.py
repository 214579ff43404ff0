"""A broker that stops a replica at the request of an earlier epoch (KAFKA-9539; against DINT-06)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.broker import controller_requests


def apply() -> None:
    controller_requests.STOP_GUARDS = ()  # type: ignore[attr-defined, assignment]
