"""The four-letter commands of a ZooKeeper server."""

from __future__ import annotations

import re
import socket

from fencepost.harness.clients.views import Answer, ServerView
from fencepost.harness.network.addresses import Endpoint


def ask_server(endpoint: Endpoint, timeout: float) -> ServerView:
    """`timeout` bounds the opening and each part of the answer."""
    try:
        said = _ask(endpoint, "srvr", timeout)
    except TimeoutError:
        return ServerView(Answer.SILENT)
    except OSError:
        return ServerView(Answer.CLOSED)
    mode = re.search(r"^Mode: (\w+)", said, re.MULTILINE)
    if mode is None:
        return ServerView(Answer.REFUSING if said else Answer.CLOSED)
    return ServerView(Answer.SERVING, mode.group(1))


def four_letters(endpoint: Endpoint, letters: str, timeout: float) -> str | None:
    """The whole answer; None if there is none."""
    try:
        return _ask(endpoint, letters, timeout) or None
    except OSError:
        return None


def _ask(endpoint: Endpoint, letters: str, timeout: float) -> str:
    with socket.create_connection(endpoint, timeout) as connection:
        connection.sendall(letters.encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode(errors="replace")
