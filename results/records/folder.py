"""The folder of a run: the paths of its files, the name of a new folder, and the manifest."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from itertools import count
from pathlib import Path

from fencepost.results.records.files import as_json, from_json, read_json, write_json
from fencepost.results.records.formats import MANIFEST_FORMAT, is_readable, upgrade_manifest
from fencepost.results.records.verdict import RunVerdict

RANDOM_PLANS = "(random plans)"
"""The test that all plans of campaigns are runs of: a random plan is run once, so it has no history of its own."""


class FolderError(ValueError):
    """A folder is not the folder of a run, or exists already."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run. `create` makes the folder; the constructor does not."""

    path: Path

    @classmethod
    def create(cls, runs: Path, plan_hash: str, day: date) -> "RunFolder":
        """Make `runs/YYYY-MM-DD-<plan hash, 8 digits>`, with `-2`, `-3` and so on if that exists."""
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
        """Make the folder at exactly this path. Raise FolderError if the path exists."""
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            raise FolderError(f"{path} exists already; a run needs a folder of its own") from None
        folder = cls(path)
        folder.logs.mkdir()
        folder.nodes.mkdir()
        return folder

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """Return the folder of an earlier run. FolderError if it does not exist or has no plan."""
        if not path.exists():
            raise FolderError(f"there is no run folder {path}")
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
    def plan_data(self) -> Path:
        return self.path / "plan.json"

    @property
    def target(self) -> Path:
        """Return the path of the target file, beside copies of what it names; only if the target is not shipped."""
        return self.path / "target" / "target.yaml"

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
        """Return the path of the process records, which are written before the processes start."""
        return self.path / "processes.jsonl"

    @property
    def logs(self) -> Path:
        """Return the folder with one log a process: `logs/node-4.log`."""
        return self.path / "logs"

    @property
    def nodes(self) -> Path:
        """Return the folder with one folder a node, for its configuration and data."""
        return self.path / "nodes"

    def try_manifest(self) -> "Manifest | None":
        """Return the manifest, or None if there is none that can be read."""
        try:
            return Manifest.load(self.manifest)
        except (OSError, ValueError):
            return None

    def try_verdict(self) -> RunVerdict | None:
        """Return the verdict, or None if there is none that can be read."""
        try:
            return RunVerdict.load(self.verdict)
        except (OSError, ValueError):
            return None


def short_digest(digest: str) -> str:
    """Return the first twelve digits of a digest such as `sha256:0b3f...`, for display."""
    return digest.rpartition(":")[2][:12]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The plan, versions and machine of a run: enough to distinguish two runs of one plan.

    `target` and `target_version` are apart so that releases can be compared. `started` is unix seconds.
    `versions` maps a component to its version, `machine` a property to its value, `hashes` a file to its SHA-256.
    `commit` is fencepost's own: empty outside a repository, with `-dirty` at its end for a changed work tree.
    `programs` maps each program that nodes were started with to its digest, `target_digest` is one over all of them;
    both are empty until nodes have started. `target_commit` is the commit of the target, if it is known.
    `planted_defect` names the mutant that nodes ran with, `planted_nodes` that of each such node; a run of an earlier
    version, which planted it into all nodes of the target, has none there. `ci` has `system`, `job`, `branch`, `commit`
    and `url` of the job of continuous integration, and is empty elsewhere.
    """

    run: str
    scenario: str
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
    programs: Mapping[str, str] = field(default_factory=dict)
    target_digest: str = ""
    target_commit: str = ""
    planted_defect: str = ""
    planted_nodes: Mapping[str, str] = field(default_factory=dict)
    ci: Mapping[str, str] = field(default_factory=dict)
    format: str = MANIFEST_FORMAT

    def save(self, path: Path) -> None:
        write_json(path, as_json(self))

    @classmethod
    def load(cls, path: Path) -> "Manifest":
        """Read a manifest. Raise OSError, or ValueError for a file that is none; FolderError for a later format."""
        values = read_json(path)
        if not is_readable(values.get("format"), MANIFEST_FORMAT):
            raise FolderError(f"{path} has the format {values.get('format')!r}; this version reads {MANIFEST_FORMAT!r}")
        upgrade_manifest(values)
        present = {each.name for each in fields(cls)}
        if unknown := sorted(set(values) - present):
            raise FolderError(f"{path} has unknown fields: {', '.join(unknown)}")
        return from_json(cls, values)
