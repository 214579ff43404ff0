"""The backends that run nodes. The command line names one, and the manifest of each run records it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, cast

from fencepost.harness.errors import UsageError

if TYPE_CHECKING:  # the command line imports this module for the names
    from fencepost.harness.backends.environment import Environment, EnvironmentSpec
    from fencepost.harness.targets.elsewhere import Elsewhere
    from fencepost.harness.targets.target import Target

PROCESS, DOCKER, ELSEWHERE = "process", "docker", "elsewhere"
BACKENDS = (PROCESS, DOCKER)
"""Those that start nodes. `elsewhere` is that of each target with `running`, and of no other."""


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


def backend_for(target: Target, named: str) -> str:
    """Return the backend of a run: that which was named, unless the target runs elsewhere."""
    return named if target.file.running is None else ELSEWHERE


def environment_for(backend: str, spec: EnvironmentSpec, target: Target) -> AbstractContextManager[Environment]:
    """Return the environment of a backend, to be entered."""
    if backend == ELSEWHERE:
        from fencepost.harness.backends.elsewhere.environment import RemoteEnvironment

        return RemoteEnvironment(spec, cast("Elsewhere", target))
    if backend == DOCKER:
        from fencepost.harness.backends.docker.environment import PodEnvironment

        return PodEnvironment(spec)
    from fencepost.harness.backends.local import LocalEnvironment

    return LocalEnvironment(spec)
