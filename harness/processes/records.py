"""`processes.jsonl` of a run: which processes it started, so that a crashed run can be cleaned up exactly.

Starting takes two lines. The intent is on disk before the process exists, with a token that goes into the child's
environment; pid and start time follow once they are known. Whatever instant the harness dies at, the process can be
found: by pid and start time, or by its token.

    {"phase": "intent",  "token": "9f3c…", "node": "node-4", "boot": "…", "argv": ["…"]}
    {"phase": "started", "token": "9f3c…", "pid": 4711, "start_time": 123456}
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fencepost.harness.processes import table
from fencepost.harness.processes.table import Identity
from fencepost.results.records.files import append_durably, json_lines

RECORDS = "processes.jsonl"
TOKEN = "FENCEPOST_TOKEN"
RUN = "FENCEPOST_RUN"
NODE = "FENCEPOST_NODE"
HARNESS = "FENCEPOST_HARNESS"
"""The id of the harness: `clean --all` asks whether it lives."""


@dataclass(frozen=True)
class StartRecord:
    """A process that a run meant to start. Without an identity the harness died before it could note one down."""

    token: str
    node: str
    boot: str
    identity: Identity | None = None


class ProcessRecords:
    """Writer of one run's `processes.jsonl`; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()
        self._run = path.parent.resolve()
        self._lock = threading.Lock()
        self._boot = table.boot_id()

    def intend(self, node: str, argv: Sequence[str]) -> dict[str, str]:
        """Note a start down before it happens; gives what belongs into the child's environment."""
        token = uuid.uuid4().hex
        self._write({"phase": "intent", "token": token, "node": node, "boot": self._boot, "argv": list(argv)})
        return {TOKEN: token, RUN: str(self._run), NODE: node, HARNESS: table.own_harness_id()}

    def started(self, token: str, identity: Identity) -> None:
        self._write({"phase": "started", "token": token, "pid": identity.pid, "start_time": identity.start_time})

    def _write(self, line: dict[str, Any]) -> None:
        with self._lock:
            append_durably(self._path, line)


def read_records(path: Path) -> list[StartRecord]:
    """Return the processes that a run started, in order.

    A torn last line is skipped: its process was not started, or is found by its token.
    """
    records: dict[str, StartRecord] = {}
    for line in json_lines(path):
        token = line["token"]
        if line["phase"] == "intent":
            records[token] = StartRecord(token, line["node"], line["boot"])
        elif line["phase"] == "started":
            records[token] = replace(records[token], identity=Identity(line["pid"], line["start_time"]))
    return list(records.values())


def living(records: Sequence[StartRecord]) -> list[tuple[StartRecord, Identity]]:
    """The processes of these records that are alive now, children that inherited a token included."""
    boot = table.boot_id()
    open_records = {record.token: record for record in records if record.boot == boot}
    if not open_records:
        return []
    by_identity = {
        identity: record
        for record in open_records.values()
        if (identity := record.identity) is not None and table.is_alive(identity)
    }
    for identity in table.all_processes():
        if identity not in by_identity and (record := open_records.get(table.variable(identity.pid, TOKEN))):
            by_identity[identity] = record
    return [(record, identity) for identity, record in by_identity.items()]
