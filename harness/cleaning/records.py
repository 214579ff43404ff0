"""`resources.jsonl` of a run: what it made outside its folder besides processes, so that it can be taken away exactly.

A resource has a kind and an id within it: of a mount the mount point, of a container or a network its name. The intent
is on disk before the resource exists; its stamp goes into the resource itself (the name of the file system, labels),
and only what carries the stamp is ever removed. Once it was removed, that is noted, too.

    {"phase": "intent", "kind": "container", "id": "fencepost-7f3c-node-4", "token": "9f3c…", "boot": "…"}
    {"phase": "made",   "kind": "container", "id": "fencepost-7f3c-node-4", "container": "4be1…"}
    {"phase": "gone",   "kind": "container", "id": "fencepost-7f3c-node-4"}
"""

from __future__ import annotations

import json
import os
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from harness.processes import table

Kind = Literal["mount", "container", "network"]
KINDS: tuple[Kind, ...] = ("mount", "container", "network")
RESOURCES = "resources.jsonl"

RUN_LABEL = "fencepost.run"
"""The run folder, on each container and network."""
TOKEN_LABEL = "fencepost.token"
HARNESS_LABEL = "fencepost.harness"
"""The signature of the harness that made it: whether that lives can be asked without the folder."""


@dataclass(frozen=True)
class Stamp:
    """What a resource carries so that it is known again."""

    token: str
    run: Path

    @property
    def labels(self) -> dict[str, str]:
        """For a container or a network."""
        return {RUN_LABEL: str(self.run), TOKEN_LABEL: self.token, HARNESS_LABEL: table.signature()}

    @property
    def fsname(self) -> str:
        """For a FUSE mount, as its option `fsname`: the kernel shows it as the source of the mount."""
        return f"fencepost-{self.token}"


@dataclass(frozen=True)
class Resource:
    """Something that a run meant to make, and that it did not note as gone."""

    kind: Kind
    id: str
    token: str
    boot: str
    details: Mapping[str, Any] = field(default_factory=dict)


class ResourceRecords:
    """Writer of one run's `resources.jsonl`; safe to use from several threads, and to have several of.

    `run` is the run folder. The file is made with its first line.
    """

    def __init__(self, run: Path) -> None:
        self._run = run.resolve()
        self._lock = threading.Lock()

    def intend(self, kind: Kind, id: str, **details: Any) -> Stamp:
        """Note down, before it is made, what will be; gives the stamp that it must carry."""
        stamp = Stamp(uuid.uuid4().hex, self._run)
        self._write("intent", kind, id, {"token": stamp.token, "boot": table.boot_id(), **details})
        return stamp

    def made(self, kind: Kind, id: str, **details: Any) -> None:
        """What is known only now: of a container or network its own id, as `container=` or `network=`."""
        self._write("made", kind, id, details)

    def gone(self, kind: Kind, id: str) -> None:
        """It was removed, or never came to be."""
        self._write("gone", kind, id, {})

    def _write(self, phase: str, kind: Kind, id: str, details: Mapping[str, Any]) -> None:
        line = json.dumps({"phase": phase, "kind": kind, "id": id, **details}) + "\n"
        with self._lock, (self._run / RESOURCES).open("ab") as file:
            if file.tell() and not _ends_whole(self._run / RESOURCES):
                file.write(b"\n")  # its last writer was killed in the middle of a line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())


def read_resources(run: Path) -> list[Resource]:
    """What a run made and did not take away, in the order in which it was made. Lines that are torn are skipped: a
    torn intent was never acted on, and what a torn `gone` names is not there any more."""
    found: dict[tuple[str, str], Resource] = {}
    for line in json_lines(run / RESOURCES):
        match line:
            case {"phase": "intent", "kind": kind, "id": str(id), "token": str(token), "boot": str(boot), **details}:
                if kind in KINDS:
                    found[kind, id] = Resource(kind, id, token, boot, details)
            case {"phase": "made", "kind": kind, "id": id, **details} if (kind, id) in found:
                earlier = found[kind, id]
                found[kind, id] = replace(earlier, details={**earlier.details, **details})
            case {"phase": "gone", "kind": kind, "id": id}:
                found.pop((kind, id), None)
    return list(found.values())


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file, as far as it is whole; none if there is no such file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
