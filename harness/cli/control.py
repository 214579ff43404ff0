"""The control socket of a cluster that `fencepost up` holds: other terminals send JSON lines to it.

The socket is in the run folder. A connection carries one request, `{"do": "inject", …}`, and one reply: `{"ok": …}` or
`{"error": "message"}`.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fencepost.faults.capabilities import CapabilityError
from fencepost.harness.errors import HarnessError, UsageError
from fencepost.harness.network.lease import is_held, leases
from fencepost.harness.processes.short_path import short_path

SOCKET = "control.sock"
REPLY_TIMEOUT_S = 600.0
"""Long, because a fault may wait for a condition, is measured, and heals only once restarted nodes answer."""
CLOSE_TIMEOUT_S = 10.0
"""A request that takes longer when the server closes loses its cluster."""

Operation = Callable[[Mapping[str, Any]], Any]


class ControlServer:
    """Answers requests with the functions of `operations` until it is closed, each request in its own thread."""

    def __init__(self, run: Path, operations: Mapping[str, Operation]) -> None:
        self._path = run / SOCKET
        self._operations = operations
        self._listener = socket.socket(socket.AF_UNIX)
        with short_path(run) as folder:
            self._listener.bind(f"{folder}/{SOCKET}")
        self._listener.listen()
        self._answering: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._serve, name="control", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer the requests that have arrived, and accept no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for thread in self._answering:
            thread.join(CLOSE_TIMEOUT_S)
        self._listener.close()
        self._path.unlink(missing_ok=True)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._reply, args=(connection,), name="reply", daemon=True)
            self._answering = [each for each in self._answering if each.is_alive()] + [thread]
            thread.start()

    def _reply(self, connection: socket.socket) -> None:
        with connection, suppress(OSError), connection.makefile("rw") as stream:
            stream.write(json.dumps(self._answer(stream.readline())) + "\n")

    def _answer(self, line: str) -> Mapping[str, Any]:
        try:
            request = json.loads(line)
            return {"ok": self._operations[request.pop("do")](request)}
        except (HarnessError, CapabilityError, OSError, ValueError, KeyError) as error:
            return {"error": str(error)}


def ask(run: Path, do: str, **request: Any) -> Any:
    """Send a request to the `fencepost up` of this run, return the reply. UsageError if the request is refused."""
    with socket.socket(socket.AF_UNIX) as connection, short_path(run) as folder:
        connection.settimeout(REPLY_TIMEOUT_S)
        try:
            connection.connect(f"{folder}/{SOCKET}")
        except OSError as error:
            raise UsageError(
                f"the cluster of {run} is not up any more ({error}): start one with `fencepost up`"
            ) from error
        with connection.makefile("rw") as stream:
            stream.write(json.dumps({"do": do, **request}) + "\n")
            stream.flush()
            line = stream.readline()
    reply = json.loads(line) if line else {"error": f"the cluster of {run} ended before it answered"}
    if "error" in reply:
        raise UsageError(reply["error"])
    return reply["ok"]


def find_run(named: Path | None) -> Path:
    """Return the run folder of the cluster that is up. UsageError if there is none, or several and none is `named`."""
    if named is not None:
        return named
    held = (lease for lease in leases() if is_held(lease))
    up = [lease.run for lease in held if lease.run is not None and (lease.run / SOCKET).exists()]
    if not up:
        raise UsageError("no cluster is up: start one in another terminal, for example with `fencepost up quorum`")
    if len(up) > 1:
        raise UsageError(f"{len(up)} clusters are up, name one with --run: {', '.join(map(str, up))}")
    return up[0]
