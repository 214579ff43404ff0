"""The program of a node's pod: it runs Toxiproxy and the accept-delay proxy, and opens sockets inside the pod.

A link that begins in a pod listens on a loopback address of the pod, which cannot be reached from outside. The harness
sends the agent a request through a Unix socket that both see; the agent connects, and passes the open connection to the
harness as a file descriptor. It passes the sock_diag socket of the pod's network (`tcp_info`) in the same way.

    {"host": "127.60.101.2", "port": 9090, "timeout": 1.5}  ->  {}  and a descriptor, or  {"errno": 111}
    {"sock_diag": true}                                     ->  {}  and a descriptor, or  {"errno": 1}
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fencepost.harness.network.accept_delay import parse_proxies
from fencepost.harness.network.accept_delay import serve as serve_accept_delay
from fencepost.harness.network.addresses import Endpoint, parse_endpoint
from fencepost.harness.network.program import PROGRAM, server_options
from fencepost.harness.network.tcp_info import sock_diag

FOLDER = Path("/run/fencepost")
"""The path in the pod of the folder that it shares with the harness."""
SOCKET = "agent.sock"


def answer(connection: socket.socket) -> None:
    """Answer one request: open a socket and send its descriptor, or the error number."""
    with connection, connection.makefile("r") as lines, suppress(OSError):
        line = lines.readline()
        if not line:  # a client that only checks whether the agent listens
            return
        request = json.loads(line)
        try:
            opened = _open_socket(request)
        except TimeoutError:
            connection.sendall(_response(errno.ETIMEDOUT))
        except OSError as error:
            connection.sendall(_response(error.errno or errno.EIO))
        else:
            with opened:
                opened.settimeout(None)
                socket.send_fds(connection, [_response(0)], [opened.fileno()])


def _open_socket(request: Mapping[str, Any]) -> socket.socket:
    if "sock_diag" in request:
        return sock_diag()
    return socket.create_connection((request["host"], request["port"]), request["timeout"])


def serve(path: Path) -> None:
    """Answer each connection to this socket in a thread of its own. Returns once the socket listens."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(64)

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def _response(error: int) -> bytes:
    return json.dumps({"errno": error} if error else {}).encode() + b"\n"


def main() -> int:
    """Run until Toxiproxy ends, since a pod without it proves nothing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("api", help="HOST:PORT of the API of Toxiproxy")
    parser.add_argument("--accept-delay", action="append", default=[], metavar="HOST:PORT=HOST:PORT")
    options = parser.parse_args()
    api = parse_endpoint(options.api)
    proxies = parse_proxies(options.accept_delay)
    toxiproxy = subprocess.Popen([PROGRAM, *server_options(api)])
    return asyncio.run(_run(proxies, toxiproxy))


async def _run(proxies: dict[Endpoint, Endpoint], toxiproxy: subprocess.Popen[bytes]) -> int:
    servers = await serve_accept_delay(proxies)
    serve(FOLDER / SOCKET)  # last: an agent that answers has open accept-delay proxies
    code = await asyncio.to_thread(toxiproxy.wait)
    print(f"Toxiproxy ended with {code}", file=sys.stderr, flush=True)
    for server in servers:
        server.close()
    os._exit(1)  # the threads of `serve` never end


if __name__ == "__main__":
    sys.exit(main())
