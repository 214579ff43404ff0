"""What runs in the pod of a node: its Toxiproxy, its door, and somebody who opens sockets from inside.

A link that begins in a pod listens on an address of the pod's own loopback, where nobody outside can dial. So the
harness asks the agent, by a Unix socket that both see: it connects, and hands the open connection over as it is. In
the same way it hands over a socket on which the kernel tells about the connections of the pod (`tcp_info`).

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

from harness.network.addresses import Endpoint
from harness.network.doors import serve as stand
from harness.network.program import PROGRAM, server_options
from harness.network.tcp_info import sock_diag

FOLDER = Path("/run/fencepost")
"""Where the pod sees the folder that it shares with the harness."""
SOCKET = "agent.sock"


def answer(connection: socket.socket) -> None:
    """One request: open, and give away what was opened."""
    with connection, connection.makefile("r") as lines, suppress(OSError):
        line = lines.readline()
        if not line:  # somebody who only wanted to know whether anybody is here
            return
        asked = json.loads(line)
        try:
            opened = _opened(asked)
        except TimeoutError:
            connection.sendall(_said(errno.ETIMEDOUT))
        except OSError as error:
            connection.sendall(_said(error.errno or errno.EIO))
        else:
            with opened:
                opened.settimeout(None)
                socket.send_fds(connection, [_said(0)], [opened.fileno()])


def _opened(asked: Mapping[str, Any]) -> socket.socket:
    if "sock_diag" in asked:
        return sock_diag()
    return socket.create_connection((asked["host"], asked["port"]), asked["timeout"])


def serve(path: Path) -> None:
    """Answer whoever connects to this socket, side by side, from a thread of its own."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(64)

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def _said(error: int) -> bytes:
    return json.dumps({"errno": error} if error else {}).encode() + b"\n"


def main() -> int:
    """Ends when Toxiproxy does: a pod without it says nothing any more."""
    parser = argparse.ArgumentParser()
    parser.add_argument("api", help="HOST:PORT of the API of Toxiproxy")
    parser.add_argument("--door", action="append", default=[], metavar="HOST:PORT=HOST:PORT")
    given = parser.parse_args()
    api = _endpoint(given.api)
    pairs = [door.split("=") for door in given.door]
    doors = {_endpoint(door): _endpoint(behind) for door, behind in pairs}
    toxiproxy = subprocess.Popen([PROGRAM, *server_options(api)])
    return asyncio.run(_until_over(doors, toxiproxy))


async def _until_over(doors: dict[Endpoint, Endpoint], toxiproxy: subprocess.Popen[bytes]) -> int:
    standing = await stand(doors)
    serve(FOLDER / SOCKET)  # who is answered here may count on the doors
    code = await asyncio.to_thread(toxiproxy.wait)
    print(f"Toxiproxy ended with {code}", file=sys.stderr, flush=True)
    for door in standing:
        door.close()
    os._exit(1)  # its threads wait for connections that come no more


def _endpoint(text: str) -> Endpoint:
    host, _, port = text.rpartition(":")
    return Endpoint(host, int(port))


if __name__ == "__main__":
    sys.exit(main())
