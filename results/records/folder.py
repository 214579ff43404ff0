"""The folder of a run: where each of its files is, and how a new one gets its name."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

MANIFEST_FORMAT = "fencepost-run/1"


class FolderError(Exception):
    """A folder that is not a run's, or that is taken."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run. Making the value creates nothing; `create` does."""

    path: Path

    @classmethod
    def create(cls, runs: Path, plan_hash: str, day: date) -> "RunFolder":
        """Make `runs/YYYY-MM-DD-<plan hash, 8 digits>`, with `-2`, `-3` and so on when that is taken."""
        runs.mkdir(parents=True, exist_ok=True)
        name = f"{day.isoformat()}-{plan_hash[:8]}"
        for number in count(1):
            try:
                return cls.create_at(runs / (name if number == 1 else f"{name}-{number}"))
            except FolderError:
                continue
        raise AssertionError("unreachable: count() does not end")

    @classmethod
    def create_at(cls, path: Path) -> "RunFolder":
        """Make the folder at exactly this path. Raises FolderError when something is there."""
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            raise FolderError(f"{path} exists; a run never writes into the folder of another") from None
        folder = cls(path)
        folder.logs.mkdir()
        folder.nodes.mkdir()
        return folder

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """The folder of a run that was made earlier. Raises FolderError when it has no plan."""
        folder = cls(path)
        if not folder.plan.is_file():
            raise FolderError(f"{path} is not the folder of a run: it has no {folder.plan.name}")
        return folder

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def plan(self) -> Path:
        return self.path / "plan.yaml"

    @property
    def manifest(self) -> Path:
        return self.path / "manifest.json"

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def verdict(self) -> Path:
        return self.path / "verdict.json"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def processes(self) -> Path:
        """Every process of the run, written before it is started."""
        return self.path / "processes.jsonl"

    @property
    def logs(self) -> Path:
        """One file a process: `logs/node-4.log`."""
        return self.path / "logs"

    @property
    def nodes(self) -> Path:
        """One folder a node, with its configuration and its data."""
        return self.path / "nodes"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was run, with what, and where: enough to tell two runs of one plan apart.

    `target` and `target_version` are apart so that releases can be compared. `started` is unix seconds.
    `versions` maps a component to its version, `machine` a property to its value, `hashes` a file to its SHA-256.
    `commit` is empty outside a repository and ends in `-dirty` for a changed work tree.
    """

    run: str
    story: str
    target: str
    target_version: str
    backend: str
    seed: int
    plan_hash: str
    started: float
    commit: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    format: str = MANIFEST_FORMAT

    def save(self, path: Path) -> None:
        write_json(path, asdict(self))

    @classmethod
    def load(cls, path: Path) -> "Manifest":
        """Raises FolderError for a file of another format or with other fields."""
        values: dict[str, Any] = json.loads(path.read_text())
        if values.get("format") != MANIFEST_FORMAT:
            raise FolderError(f"{path} has the format {values.get('format')!r}; this version reads {MANIFEST_FORMAT!r}")
        known = {each.name for each in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise FolderError(f"{path} has unknown fields: {', '.join(unknown)}")
        return cls(**values)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace the file at once: a reader sees the old one or the new one, never half of it."""
    draft = path.with_name(path.name + ".tmp")
    with draft.open("w") as file:
        json.dump(value, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
