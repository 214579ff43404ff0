"""`resources.jsonl` of a run: what it made outside its folder besides processes, so that it can be taken away exactly.

A resource has a kind and an id within it: of a mount the mount point, of a container or a network its name. The intent
is on disk before the resource exists; its stamp goes into the resource itself (the name of the file system, labels),
and only what carries the stamp is ever removed. Once it was removed, that is noted, too. The fault of a broker that
runs elsewhere is a `command`, which undoes it; its id is the name of the broker, and it carries no stamp.

    {"phase": "intent", "kind": "container", "id": "fencepost-7f3c-node-4", "token": "9f3c…", "boot": "…"}
    {"phase": "made",   "kind": "container", "id": "fencepost-7f3c-node-4", "container": "4be1…"}
    {"phase": "gone",   "kind": "container", "id": "fencepost-7f3c-node-4"}
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from fencepost.harness.processes import table
from fencepost.results.records.files import append_durably, json_lines

ResourceKind = Literal["mount", "container", "network", "command"]
KINDS: tuple[ResourceKind, ...] = ("mount", "container", "network", "command")
RESOURCES = "resources.jsonl"

RUN_LABEL = "fencepost.run"
"""The run folder, on each container and network."""
TOKEN_LABEL = "fencepost.token"
HARNESS_LABEL = "fencepost.harness"
"""The id of the harness that made it: whether that lives can be asked without the folder."""


@dataclass(frozen=True)
class Stamp:
    """The identification that a resource carries."""

    token: str
    run: Path

    @property
    def labels(self) -> dict[str, str]:
        """For a container or a network."""
        return {RUN_LABEL: str(self.run), TOKEN_LABEL: self.token, HARNESS_LABEL: table.own_harness_id()}

    @property
    def fsname(self) -> str:
        """For a FUSE mount, as its option `fsname`: the kernel shows it as the source of the mount."""
        return f"fencepost-{self.token}"


@dataclass(frozen=True)
class RecordedResource:
    """Something that a run meant to make, and that it did not note as gone."""

    kind: ResourceKind
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

    def intend(self, kind: ResourceKind, id: str, **details: Any) -> Stamp:
        """Note down, before it is made, what will be; gives the stamp that it must carry."""
        stamp = Stamp(uuid.uuid4().hex, self._run)
        self._write("intent", kind, id, {"token": stamp.token, "boot": table.boot_id(), **details})
        return stamp

    def made(self, kind: ResourceKind, id: str, **details: Any) -> None:
        """Record details that are known after creation: the id of a container or network (`container=`, `network=`)."""
        self._write("made", kind, id, details)

    def gone(self, kind: ResourceKind, id: str) -> None:
        """Record that a resource was removed, or was never made."""
        self._write("gone", kind, id, {})

    def _write(self, phase: str, kind: ResourceKind, id: str, details: Mapping[str, Any]) -> None:
        with self._lock:
            append_durably(self._run / RESOURCES, {"phase": phase, "kind": kind, "id": id, **details})


def read_resources(run: Path) -> list[RecordedResource]:
    """Return the resources that a run made and did not remove, in order. Torn lines are skipped: a
    torn intent was never acted on, and what a torn `gone` names is not there any more."""
    resources: dict[tuple[str, str], RecordedResource] = {}
    for line in json_lines(run / RESOURCES):
        match line:
            case {"phase": "intent", "kind": kind, "id": str(id), "token": str(token), "boot": str(boot), **details}:
                if kind in KINDS:
                    resources[kind, id] = RecordedResource(kind, id, token, boot, details)
            case {"phase": "made", "kind": kind, "id": id, **details} if (kind, id) in resources:
                earlier = resources[kind, id]
                resources[kind, id] = replace(earlier, details={**earlier.details, **details})
            case {"phase": "gone", "kind": kind, "id": id}:
                resources.pop((kind, id), None)
    return list(resources.values())
