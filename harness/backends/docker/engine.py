"""The Docker engine of this machine: its client.

    python -m fencepost.harness.backends.docker.engine

prints its version; or why none can be used and how to get one, with exit code 2.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

from fencepost.harness.errors import InfrastructureError

if TYPE_CHECKING:
    from docker import DockerClient

LOCAL = "unix://"
TIMEOUT_S = 60
"""Seconds for one answer: a build is a stream of them."""
CONNECTIONS = 64
"""Each running container has one that waits for its end."""
GET_ONE = "apt-get install docker.io iptables, then start dockerd as root; `fencepost doctor` tells whether it answers"


@cache
def engine() -> DockerClient:
    """Return the engine that DOCKER_HOST names, or this machine's. InfrastructureError with how to get one."""
    import docker  # optional dependency

    where = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not where.startswith(LOCAL):
        raise InfrastructureError(
            f"the Docker engine at {where} is on another machine: nodes share files with the harness, so unset "
            "DOCKER_HOST and run an engine here"
        )
    try:
        client = docker.from_env(timeout=TIMEOUT_S, max_pool_size=CONNECTIONS)
        client.ping()
    except (docker.errors.DockerException, OSError) as error:  # an engine that hangs is the latter
        raise InfrastructureError(f"no Docker engine answers at {where} ({_reason(error)}): {GET_ONE}") from None
    return client


def check_engine() -> None:
    """Raises InfrastructureError if no engine can be used, with the remedy."""
    try:
        import docker  # noqa: F401
    except ImportError:
        raise InfrastructureError("the package docker is not installed: pip install 'fencepost[harness]'") from None
    engine()


def _reason(error: Exception) -> str:
    """The innermost cause: what the client wraps around it names its own classes."""
    while (cause := error.__cause__ or error.__context__) is not None and isinstance(cause, Exception):
        error = cause
    return getattr(error, "strerror", None) or str(error)


if __name__ == "__main__":
    try:
        check_engine()
        print(engine().version()["Version"])
    except InfrastructureError as message:
        print(message)
        sys.exit(2)
