"""How a second terminal reaches a cluster that `fencepost up` holds: JSON lines over a socket in its run folder.

One request a connection, `{"do": "inject", …}`, and one reply: `{"ok": …}` or `{"error": "sentence"}`.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from faults.capabilities import CapabilityError
from harness.errors import HarnessError, UsageError
from harness.network.lease import is_held, leases

SOCKET = "control.sock"
PATIENCE = 600.0
"""Seconds for a reply: a fault may wait for its moment, is measured, and heals only once restarted nodes answer."""
CLOSED_WITHIN = 10.0
"""Seconds that a request in hand may take at the end; the cluster is taken away from under it after that."""

Operation = Callable[[Mapping[str, Any]], Any]


class ControlServer:
    """Answers requests, each in a thread of its own, with the functions of `operations`, until closed."""

    def __init__(self, run: Path, operations: Mapping[str, Operation]) -> None:
        self._path = run / SOCKET
        self._operations = operations
        self._listener = socket.socket(socket.AF_UNIX)
        with _short(run) as folder:
            self._listener.bind(f"{folder}/{SOCKET}")
        self._listener.listen()
        self._answering: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._serve, name="control", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer the requests in hand, then none."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for thread in self._answering:
            thread.join(CLOSED_WITHIN)
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
        except (HarnessError, CapabilityError, ValueError, KeyError) as error:
            return {"error": str(error)}


def ask(run: Path, do: str, **request: Any) -> Any:
    """The reply of the `fencepost up` of this run. Raises UsageError with its sentence if it refuses."""
    with socket.socket(socket.AF_UNIX) as connection, _short(run) as folder:
        connection.settimeout(PATIENCE)
        try:
            connection.connect(f"{folder}/{SOCKET}")
        except OSError as error:
            raise UsageError(f"the cluster of {run} is not up any more ({error}): run `fencepost up`") from error
        with connection.makefile("rw") as stream:
            stream.write(json.dumps({"do": do, **request}) + "\n")
            stream.flush()
            line = stream.readline()
    reply = json.loads(line) if line else {"error": f"the cluster of {run} ended before it answered"}
    if "error" in reply:
        raise UsageError(reply["error"])
    return reply["ok"]


def find_run(named: Path | None) -> Path:
    """The run folder of the cluster that is up; `named` decides if there are several."""
    if named is not None:
        return named
    held = (lease for lease in leases() if is_held(lease))
    up = [lease.run for lease in held if lease.run is not None and (lease.run / SOCKET).exists()]
    if not up:
        raise UsageError("no cluster is up: start one in another terminal, for example with `fencepost up quorum`")
    if len(up) > 1:
        raise UsageError(f"{len(up)} clusters are up, name one with --run: {', '.join(map(str, up))}")
    return up[0]


@contextmanager
def _short(folder: Path) -> Iterator[str]:
    """A short path to a folder: that of a Unix socket may have 107 bytes only."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
