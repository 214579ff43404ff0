"""A cluster that outlives a run: plans for the same nodes run on it one after the other.

Each run has a folder of its own with plan, journal, logs and what the nodes have on disk, and is judged by it alone, as
any run. In `chain/` it has the plans that ran on the cluster before, the oldest first. Topics of earlier plans stay
with the cluster; their logs are not copied.

The cluster ends with its chain, and after a run

- that did not pass, or whose cluster was not whole, with all its nodes running, in the end;
- with a fault that was not proven healed, or after which a node may have forgotten what it had made durable;
- that changed which nodes vote, or started a second process with an id, or made thousands of partitions.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.faults.capabilities import Running
from fencepost.harness.checkers.exits import FORGETS_NOTHING
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.inheriting import inherit, left_by
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.model.sent import Legacy
from fencepost.harness.plan.file import dump_plan, load_plan
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.topic_changes import changed_topics
from fencepost.harness.targets.target import Target
from fencepost.results.records.events import CONVERGE
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import Journal, JournalWriter, read_journal
from fencepost.results.records.verdict import RunVerdict, Verdict

SERVES = "serves"
"""The file in the folder of a cluster that names the run which it serves; the aftermath of a dead harness judges it."""
CHAIN = "chain"
"""The folder in that of a run with the plans that ran on its cluster before."""
CLUSTERS = ".clusters"
_OF_VOTERS = frozenset({"add_raft_voter", "remove_raft_voter", "update_raft_voter"})


@dataclass
class LivingCluster:
    """The present cluster of a series of plans, if one lives. `before`: the plans that ran on it, the oldest first."""

    before: list[Plan] = field(default_factory=list)
    _cluster: Cluster | None = None
    _left: Legacy = field(default_factory=Legacy)
    """The knowledge of the cluster, in the times of the last run."""
    _last: JournalWriter | None = None
    """The journal of the last run."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    @contextmanager
    def lease(
        self, plan: Plan, folder: RunFolder, journal: JournalWriter, target: Target, backend: str
    ) -> Iterator[Cluster]:
        """Give the cluster to a run; start one if none lives. Raise InfrastructureError if a node ended meanwhile."""
        if self.before and not same_nodes(plan, self.before[0]):
            self.end()
        if self._cluster is None:
            home = RunFolder.create_at(_free(folder.path.parent / CLUSTERS, folder.name))
            self._cluster = Cluster(plan, home, journal, target, backend).__enter__()
        else:
            save_plans(folder.path / CHAIN, self.before)
            assert self._last is not None
            legacy = inherit(self._left, self._last.now() - journal.now(), journal)
            self._cluster.serve(plan, journal, legacy)
        self._last = journal
        cluster = self._cluster
        (cluster.folder.path / SERVES).write_text(str(folder.path.resolve()), encoding="utf-8")
        sizes = log_sizes(cluster.folder)
        try:
            if self.before:
                _check_running(cluster)
            yield cluster
        finally:
            foreign = {topic for earlier in self.before for topic in topics_of(earlier)} - topics_of(plan)
            _keep(cluster.folder, folder, sizes, foreign)

    def judged(self, plan: Plan, folder: RunFolder, verdict: RunVerdict) -> None:
        """Note the end of a run; end the cluster if no other run may follow on it."""
        self.before.append(plan)
        running = self._cluster is not None and not _ended(self._cluster)
        journal = read_journal(folder.journal)
        if verdict.verdict is Verdict.PASS and running and may_live_on(plan, journal):
            self._left = left_by(plan, journal, self._left)
        else:
            self.end()

    def end(self) -> None:
        """End the cluster, if one lives, and remove its folder: its runs have what they need of it."""
        self.before.clear()
        self._left, self._last = Legacy(), None
        if self._cluster is not None:
            cluster, self._cluster = self._cluster, None
            cluster.stop()
            shutil.rmtree(cluster.folder.path, ignore_errors=True)


def same_nodes(plan: Plan, first: Plan) -> bool:
    """Return whether a plan can run on the cluster that was started for another."""
    shapes = [
        (each.target, each.topology, each.timing, each.level, each.settings, each.security) for each in (plan, first)
    ]
    return shapes[0] == shapes[1]


def may_live_on(plan: Plan, journal: Journal) -> bool:
    """Return whether a cluster is as good as before after a run that passed."""
    ends = {event.id: event.data.get("outcome") for event in journal.of("step", "end")}
    faults = {event.data.get("fault") for event in journal.of("fault", "intent")}
    open_faults = {event.id for event in journal.of("fault", "intent")} - {
        event.id for event in journal.of("fault", "healed")
    }
    votes = any(isinstance(step, ApiProbe) and step.api in _OF_VOTERS for step in plan.steps)
    twins = any(node.duplicate_of is not None for node in plan.topology.nodes)
    once = plan.releases is not None or plan.huge_topics or plan.prepared_topics
    return ends.get(CONVERGE) == "done" and faults <= FORGETS_NOTHING and not (open_faults or votes or twins or once)


def topics_of(plan: Plan) -> frozenset[str]:
    """Return the topics that a plan and its steps create."""
    return frozenset((*(topic.name for topic in plan.topics), *changed_topics(plan)))


def saved_plans(folder: Path) -> tuple[Plan, ...]:
    """Return the plans of a saved chain, the oldest first; none without the folder. Raise PlanError."""
    return tuple(load_plan(path) for path in sorted(folder.glob("*.yaml")))


def save_plans(folder: Path, plans: Sequence[Plan]) -> None:
    """Save the plans of a chain in a new folder; no folder for none."""
    if plans:
        folder.mkdir()
    for number, plan in enumerate(plans, start=1):
        (folder / f"{number:03}.yaml").write_text(dump_plan(plan), encoding="utf-8")


def _free(parent: Path, name: str) -> Path:
    return next(path for number in count(1) if not (path := parent / f"{name}-{number}").exists())


def _ended(cluster: Cluster) -> list[str]:
    """Return the nodes that are to run and do not."""
    nodes = [node.name for node in cluster.plan.topology.nodes if node.start == "now"]
    return [name for name in nodes if cluster.processes.status(name).running is not Running.RUNNING]


def _check_running(cluster: Cluster) -> None:
    if ended := _ended(cluster):
        raise InfrastructureError(f"{', '.join(ended)} ended between two runs; see {cluster.folder.logs}")


def log_sizes(folder: RunFolder) -> Mapping[str, int]:
    """Return the sizes of the logs of a cluster, by the names of its processes."""
    return {path.stem: path.stat().st_size for path in folder.logs.glob("*.log")}


def _keep(home: RunFolder, folder: RunFolder, sizes: Mapping[str, int], foreign: Collection[str]) -> None:
    """Copy what the judge reads of the nodes: their logs since the run began, and their files."""
    for path in home.logs.glob("*.log"):
        with path.open("rb") as log, (folder.logs / path.name).open("ab") as kept:
            log.seek(sizes.get(path.stem, 0))
            shutil.copyfileobj(log, kept)
    for directory, names, files in os.walk(home.nodes):
        names[:] = [name for name in names if name.rpartition("-")[0] not in foreign]
        copy = folder.nodes / Path(directory).relative_to(home.nodes)
        copy.mkdir(exist_ok=True)
        for name in files:
            with suppress(FileNotFoundError):  # the node removed it meanwhile
                copy_sparse(Path(directory, name), copy / name)


def copy_sparse(source: Path, copy: Path) -> None:
    """Copy a regular file without its holes: brokers allocate indexes before they fill them."""
    if not source.is_file():
        return
    with source.open("rb") as file, copy.open("wb") as kept:
        at, size = 0, os.fstat(file.fileno()).st_size
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:  # only a hole is left
                break
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            os.lseek(file.fileno(), at, os.SEEK_SET)
            kept.seek(at)
            while at < end and (data := os.read(file.fileno(), min(1 << 20, end - at))):
                at += kept.write(data)
            at = max(at, end)
        kept.truncate(size)
