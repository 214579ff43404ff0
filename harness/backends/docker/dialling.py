"""Sockets of a pod, opened by its agent and handed over."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.backends.docker.agent import SOCKET
from harness.errors import InfrastructureError
from harness.network.addresses import Endpoint

MARGIN = 5.0
"""Seconds that an agent may take besides those that it was given to dial."""


def dial_inside(folder: Path, endpoint: Endpoint, timeout: float) -> socket.socket:
    """A connection from within the pod that shares `folder`, as if it had been dialled here.

    Raises what `socket.create_connection` would (refused, timed out), and InfrastructureError if no agent answers.
    """
    opened = _opened(folder, timeout, host=endpoint.host, port=endpoint.port, timeout=timeout)
    opened.settimeout(timeout)
    return opened


def sock_diag_inside(folder: Path) -> socket.socket:
    """Where the kernel tells about the connections of the pod that shares `folder`. Raises as `dial_inside` does."""
    return _opened(folder, 0.0, sock_diag=True)


def _opened(folder: Path, patience: float, /, **asked: object) -> socket.socket:
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(patience + MARGIN)
        try:
            _connect(agent, folder)
            agent.sendall(json.dumps(asked).encode() + b"\n")
            said, descriptors, _, _ = socket.recv_fds(agent, 4096, 1)
        except OSError as error:
            raise InfrastructureError(f"the agent of the pod at {folder} does not answer: {error}") from error
    if descriptors:
        return socket.socket(fileno=descriptors[0])
    if not said:
        raise InfrastructureError(f"the agent of the pod at {folder} ended before it answered")
    number = json.loads(said).get("errno", errno.EIO)
    # OSError makes of a number the class that belongs to it: ConnectionRefusedError, TimeoutError.
    raise OSError(number, os.strerror(number))


def reaches_agent(folder: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as agent:
        try:
            _connect(agent, folder)
        except OSError:
            return False
    return True


def _connect(agent: socket.socket, folder: Path) -> None:
    with _short(folder) as path:
        agent.connect(f"{path}/{SOCKET}")


@contextmanager
def _short(folder: Path) -> Iterator[str]:
    """A short path to a folder: that of a Unix socket may have 107 bytes only."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
