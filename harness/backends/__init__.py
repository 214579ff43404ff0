"""How nodes are run. A backend is named on the command line, and recorded in the manifest of each run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from faults.capabilities import Capability
from harness.errors import UsageError

PROCESS, DOCKER = "process", "docker"
BACKENDS = (PROCESS, DOCKER)

Lacking = Callable[[str], str | None]
"""A sentence why something cannot be done on a backend here; None if it can."""


def check_name(name: str) -> None:
    """Raises UsageError for a backend that there is not. One that there is may be out of order on this machine."""
    if name not in BACKENDS:
        raise UsageError(f"there is no backend {name!r}: the backends are {', '.join(BACKENDS)}")


def check_backend(name: str) -> None:
    """Raises UsageError, with what to do, for a backend that there is not, or not on this machine."""
    check_name(name)
    if name == DOCKER:
        from harness.backends.docker.engine import check_engine

        check_engine()


def lacking(backend: str, capability: Capability) -> str | None:
    """A sentence why a backend cannot do something on this machine; None if it can."""
    asked = _ASKED.get(capability)
    return asked(backend) if asked else None


def _of_containers(backend: str) -> str | None:
    return None if backend == DOCKER else "only a container has a network and limits of its own: --backend docker"


def _of_clocks(backend: str) -> str | None:
    from harness import clock

    return clock.lacking()


def _disks(backend: str) -> str | None:
    from harness.disks import lacking

    return lacking(others=backend != PROCESS)


_ASKED: Mapping[Capability, Lacking] = {
    Capability.DISKS: _disks,
    Capability.NETWORK: _of_containers,
    Capability.RESOURCES: _of_containers,
    Capability.CLOCK: _of_clocks,
}
