"""The protocol between the harness and the process of a mount: one JSON line each way, over a Unix socket.

    {"do": "add", "name": "slow", "rule": {"operations": ["write"], "delay_ms": 200, …}}    {"ok": null}
    {"do": "remove", "name": "slow"}                                                        {"ok": {"write": 12}}
    {"do": "clear"}, {"do": "hello"}, {"do": "settle"}                                      {"ok": null}
    {"do": "lose"}                                  {"ok": {"files": {"t-0/…log": [2000, 1000]}, "names": […]}}
    {"do": "flip", "path": "t-0/…log", "offset": 4711, "bit": 3}                            {"ok": [32, 40]}
    {"do": "remember"}                                                                      {"ok": 12.5}
    {"do": "set_back", "pattern": "*.log", "age": 2.5, "first": 0, "count": 1, "behind_cuts": false}
                                                                    {"ok": [["t-0/…log", 4096, "6b6b…", "0000…"]]}
    {"do": "block", "path": "t-0/…log", "offset": 4096}                                     {"ok": "0000…"}
    {"do": "overwrite", "path": "t-0/…log", "offset": 4096, "was": "0000…", "now": "6b6b…"} {"ok": true}

What goes wrong comes back as `{"error": "a message"}`.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fencepost.faults.capabilities import CapabilityError
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.processes.short_path import short_path

ANSWERS_WITHIN = 10.0
"""Seconds."""

RequestHandler = Callable[[Mapping[str, Any]], Any]


def ask(path: Path, do: str, /, **what: Any) -> Any:
    """Send one request. Raises InfrastructureError without an answer, CapabilityError if the answer is an error."""
    try:
        with short_path(path.parent) as folder, socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(ANSWERS_WITHIN)
            connection.connect(f"{folder}/{path.name}")
            with connection.makefile("rw", encoding="utf-8") as stream:
                stream.write(json.dumps({"do": do, **what}) + "\n")
                stream.flush()
                answer = json.loads(stream.readline() or '{"error": "it hung up"}')
    except (OSError, ValueError) as error:
        raise InfrastructureError(f"the file system behind {path} does not answer `{do}`: {error}") from error
    if "error" in answer:
        raise CapabilityError(f"the file system behind {path} could not {do}: {answer['error']}")
    return answer["ok"]


def listening(path: Path) -> socket.socket:
    """Bind and listen; requests from now on are queued until `serve` runs. Raises OSError."""
    path.unlink(missing_ok=True)
    bound = socket.socket(socket.AF_UNIX)
    with short_path(path.parent) as folder:
        bound.bind(f"{folder}/{path.name}")
    bound.listen()
    return bound


def serve(bound: socket.socket, answer: RequestHandler) -> None:
    """Serve one connection after another, forever."""
    while True:
        connection, _ = bound.accept()
        # The client may have closed the connection before the answer.
        with suppress(OSError, ValueError), connection, connection.makefile("rw", encoding="utf-8") as stream:
            for line in stream:
                stream.write(json.dumps(_answered(line, answer)) + "\n")
                stream.flush()


def _answered(line: str, answer: RequestHandler) -> dict[str, Any]:
    try:
        return {"ok": answer(json.loads(line))}
    except (OSError, ValueError, KeyError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
