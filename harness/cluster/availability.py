"""The capabilities that a backend cannot give to a cluster on this machine, each with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fencepost.faults.capabilities import Capability
from fencepost.harness import clock, disks
from fencepost.harness.backends import DOCKER, ELSEWHERE, PROCESS
from fencepost.harness.network.server import without_messages


def unavailable_reason(backend: str, capability: Capability) -> str | None:
    """Return why a backend cannot give a capability on this machine, or None if it can."""
    reason = _REASONS.get(capability)
    return reason(backend) if reason else None


def _containers(backend: str) -> str | None:
    return (
        None
        if backend in (DOCKER, ELSEWHERE)
        else "only a container has a network and limits of its own: --backend docker"
    )


_REASONS: Mapping[Capability, Callable[[str], str | None]] = {
    Capability.DISKS: lambda backend: disks.unavailable_reason(others=backend != PROCESS),
    Capability.NETWORK: _containers,
    Capability.RESOURCES: _containers,
    Capability.MESSAGES: lambda _: without_messages(),
    Capability.CLOCK: lambda _: clock.unavailable_reason(),
}
