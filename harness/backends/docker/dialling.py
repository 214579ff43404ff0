"""Open sockets inside a pod, through its agent."""

from __future__ import annotations

import errno
import json
import os
import socket
from pathlib import Path

from fencepost.harness.backends.docker.agent import SOCKET
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.processes.short_path import short_path

MARGIN = 5.0
"""Seconds for the answer of an agent, besides the timeout of the connection."""


def dial_inside(folder: Path, endpoint: Endpoint, timeout: float) -> socket.socket:
    """Return a connection from inside the pod that shares `folder`.

    Raises what `socket.create_connection` would (refused, timed out), and InfrastructureError if no agent answers.
    """
    opened = _opened(folder, timeout, host=endpoint.host, port=endpoint.port, timeout=timeout)
    opened.settimeout(timeout)
    return opened


def sock_diag_inside(folder: Path) -> socket.socket:
    """Return a sock_diag socket of the network of the pod that shares `folder`. Raises as `dial_inside` does."""
    return _opened(folder, 0.0, sock_diag=True)


def _opened(folder: Path, timeout: float, /, **request: object) -> socket.socket:
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(timeout + MARGIN)
        try:
            _connect(agent, folder)
            agent.sendall(json.dumps(request).encode() + b"\n")
            answer, descriptors, _, _ = socket.recv_fds(agent, 4096, 1)
        except OSError as error:
            raise InfrastructureError(f"the agent of the pod at {folder} does not answer: {error}") from error
    if descriptors:
        return socket.socket(fileno=descriptors[0])
    if not answer:
        raise InfrastructureError(f"the agent of the pod at {folder} ended before it answered")
    number = json.loads(answer).get("errno", errno.EIO)
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
    with short_path(folder) as path:
        agent.connect(f"{path}/{SOCKET}")
