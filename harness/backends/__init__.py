"""The backends that run nodes. The command line names one, and the manifest of each run records it."""

from __future__ import annotations

from fencepost.harness.errors import UsageError

PROCESS, DOCKER = "process", "docker"
BACKENDS = (PROCESS, DOCKER)


def check_name(name: str) -> None:
    """Raise UsageError for an unknown backend; a known one may still be unusable on this machine."""
    if name not in BACKENDS:
        raise UsageError(f"there is no backend {name!r}: the backends are {', '.join(BACKENDS)}")


def check_backend(name: str) -> None:
    """Raise UsageError for an unknown backend, InfrastructureError with the remedy for one that this machine lacks."""
    check_name(name)
    if name == DOCKER:
        # Optional dependency: only this backend needs the package docker.
        from fencepost.harness.backends.docker.engine import check_engine

        check_engine()
