"""How the harness speaks to the process behind a mount: one JSON line each way, over a socket in the run folder.

    {"do": "add", "name": "slow", "rule": {"operations": ["write"], "delay_ms": 200, …}}    {"ok": null}
    {"do": "remove", "name": "slow"}                                                        {"ok": {"write": 12}}
    {"do": "clear"}, {"do": "hello"}, {"do": "settle"}                                      {"ok": null}
    {"do": "lose"}                                  {"ok": {"files": {"t-0/…log": [2000, 1000]}, "names": […]}}
    {"do": "flip", "path": "t-0/…log", "offset": 4711, "bit": 3}                            {"ok": [32, 40]}

What goes wrong comes back as `{"error": "a sentence"}`.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from faults.capabilities import CapabilityError
from harness.errors import InfrastructureError

ANSWERS_WITHIN = 10.0
"""Seconds."""

Answer = Callable[[Mapping[str, Any]], Any]


def ask(path: Path, do: str, /, **what: Any) -> Any:
    """InfrastructureError if it does not answer, CapabilityError if it says that it could not be done."""
    try:
        with _named(path) as name, socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(ANSWERS_WITHIN)
            connection.connect(name)
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
    """Whoever asks from now on is heard, if not answered yet. Raises OSError."""
    path.unlink(missing_ok=True)
    bound = socket.socket(socket.AF_UNIX)
    with _named(path) as name:
        bound.bind(name)
    bound.listen()
    return bound


def serve(bound: socket.socket, answer: Answer) -> None:
    """For ever, one connection after another."""
    while True:
        connection, _ = bound.accept()
        # Whoever asked may have given up before the answer.
        with suppress(OSError, ValueError), connection, connection.makefile("rw", encoding="utf-8") as stream:
            for line in stream:
                stream.write(json.dumps(_answered(line, answer)) + "\n")
                stream.flush()


def _answered(line: str, answer: Answer) -> dict[str, Any]:
    try:
        return {"ok": answer(json.loads(line))}
    except (OSError, ValueError, KeyError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


@contextmanager
def _named(path: Path) -> Iterator[str]:
    """A socket's name may have 107 bytes, and a run folder can lie deep: so it is named from its folder."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
