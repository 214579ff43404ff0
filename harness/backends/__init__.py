"""The backends that run nodes. The command line names one, and the manifest of each run records it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from fencepost.harness.errors import UsageError

if TYPE_CHECKING:  # the command line imports this module for the names
    from fencepost.harness.backends.environment import Environment, EnvironmentSpec
    from fencepost.harness.targets.target import Target

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


def prepare(backend: str, target: Target) -> None:
    """Fetch a target and build its images. This takes minutes the first time, and nothing later."""
    target.prepare()
    if backend == DOCKER:
        from fencepost.harness.backends.docker.build import prepare_images

        prepare_images(target)


def environment_for(backend: str, spec: EnvironmentSpec) -> AbstractContextManager[Environment]:
    """Return the environment of a backend, to be entered."""
    if backend == DOCKER:
        from fencepost.harness.backends.docker.environment import PodEnvironment

        return PodEnvironment(spec)
    from fencepost.harness.backends.local import LocalEnvironment

    return LocalEnvironment(spec)
