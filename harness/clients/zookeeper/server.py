"""What a ZooKeeper server says of itself, by the four letters `srvr`."""

from __future__ import annotations

import re
import socket

from harness.clients.views import Answer, ServerView
from harness.network.addresses import Endpoint


def ask_server(endpoint: Endpoint, timeout: float) -> ServerView:
    """`timeout` bounds the opening and each part of the answer."""
    try:
        with socket.create_connection(endpoint, timeout) as connection:
            connection.sendall(b"srvr")
            said = b"".join(iter(lambda: connection.recv(4096), b"")).decode(errors="replace")
    except TimeoutError:
        return ServerView(Answer.SILENT)
    except OSError:
        return ServerView(Answer.CLOSED)
    mode = re.search(r"^Mode: (\w+)", said, re.MULTILINE)
    if mode is None:
        return ServerView(Answer.REFUSING if said else Answer.CLOSED)
    return ServerView(Answer.SERVING, mode.group(1))
