"""A run, the whole way: plan on disk, cluster, steps beside the workload, verdict, report."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path

from faults.capabilities import CapabilityError
from harness.backends import check_backend
from harness.clients.observer import Observer, Watched
from harness.clients.workload import Workload
from harness.clients.zookeeper.preparing import prepare_topics
from harness.cluster import READY_WITHIN, Cluster
from harness.conformance.progress import Phase
from harness.engine.context import Context
from harness.engine.execute import Watch, await_topics, execute
from harness.engine.keeper import FaultKeeper
from harness.engine.node_logs import Instants, NodeLogs
from harness.errors import HarnessError
from harness.judge import judge_folder
from harness.manifest import describe
from harness.network.layout import Listener, Node
from harness.plan.check import problems
from harness.plan.file import PlanError, dump_plan
from harness.plan.hash import plan_hash
from harness.plan.model import Plan
from harness.processes.waiting import WaitingNodes
from harness.room import check_room, room
from harness.targets import target as targets
from results.records.folder import RunFolder
from results.records.journal import JournalWriter
from results.records.verdict import RunVerdict

TOPICS_WITHIN = 15.0
"""Seconds for the request that creates a plan's topics."""


class Interrupted(KeyboardInterrupt):
    """The run was interrupted. All is ended and judged, so only what would come after it is called off."""

    def __init__(self, folder: RunFolder, verdict: RunVerdict) -> None:
        super().__init__(f"{folder.path} was interrupted")
        self.folder = folder
        self.verdict = verdict


class Unwatched:
    """Nobody is told how far the run is."""

    def tell(self, phase: Phase, *, step: str | None = None) -> None:
        pass


def run(plan: Plan, runs: Path, backend: str = "process", watch: Watch | None = None) -> tuple[RunFolder, RunVerdict]:
    """Run a plan and judge it; its folder is made in `runs`.

    Raises PlanError or UsageError before anything exists. From then on whatever goes wrong is part of the verdict, and
    everything that was started is ended. After an interrupt, too; then Interrupted is raised, with folder and verdict.
    """
    if wrong := problems(plan):
        raise PlanError([f"{problem.sentence} (in {'.'.join(map(str, problem.at))})" for problem in wrong])
    check_backend(backend)
    target = targets.load(plan.target)
    target.file.check_levels(plan)
    target.file.check_design(plan)
    check_room(runs)
    with room(runs):
        return _run(plan, runs, target, backend, watch or Unwatched())


def _run(plan: Plan, runs: Path, target: targets.Target, backend: str, watch: Watch) -> tuple[RunFolder, RunVerdict]:
    folder = RunFolder.create(runs, plan_hash(plan), date.today())
    folder.plan.write_text(dump_plan(plan), encoding="utf-8")
    describe(plan, folder, target.version, backend).save(folder.manifest)
    with JournalWriter(folder.journal) as journal:
        journal.write("run", folder.name, "begin", {"story": plan.story, "target": plan.target, "seed": plan.seed})
        interrupted = False
        try:
            _live(plan, folder, journal, target, backend, watch)
        except (KeyboardInterrupt, SystemExit):
            interrupted = True
            journal.trouble("the run was interrupted")
        except (HarnessError, CapabilityError) as error:
            journal.trouble(str(error))
        except Exception as error:
            details = folder.logs / "harness.log"
            details.write_text(traceback.format_exc(), encoding="utf-8")
            journal.trouble(f"the harness itself failed, and {details} says where: {error!r}")
        journal.write("run", folder.name, "end")
    try:
        verdict = _judged(folder)
    except (KeyboardInterrupt, SystemExit):  # what came to its end is judged all the same
        interrupted = True
        verdict = _judged(folder)
    if interrupted:
        raise Interrupted(folder, verdict)
    return folder, verdict


def _live(
    plan: Plan, folder: RunFolder, journal: JournalWriter, target: targets.Target, backend: str, watch: Watch
) -> None:
    """From the first process to the last. The observer watches until all nodes are ended on purpose."""
    with Cluster(plan, folder, journal, target, backend) as cluster, started(cluster) as context:
        watch.tell(Phase.RUNNING)
        execute(context, watch)


@contextmanager
def started(cluster: Cluster, seconds: float | None = None) -> Iterator[Context]:
    """A cluster that serves, with its topics, and watched from outside. The run is to be over after `seconds`, or what
    the plan allows."""
    plan, journal = cluster.plan, cluster.journal
    with ExitStack() as stack:
        deadline = time.monotonic() + (plan.deadline_ms / 1000 if seconds is None else seconds)
        _start(cluster)
        dialect = cluster.target.file.dialect
        observer = stack.enter_context(Observer(_watched(cluster), dialect, journal, plan.prepared_topics))
        stack.enter_context(WaitingNodes(cluster.pids, journal))
        workload = Workload(plan, journal, cluster.bootstrap)
        stack.callback(workload.stop)
        logs = NodeLogs(cluster.folder.logs, [node.name for node in plan.topology.nodes])
        instants = Instants(logs.mark)
        keeper = FaultKeeper(journal, instants)
        context = Context(plan, cluster, journal, observer, workload, keeper, logs, deadline, instants=instants)
        if plan.prepared_topics:
            await_topics(context, [topic for topic in plan.topics if topic.prepared])
        workload.create_topics(TOPICS_WITHIN)
        await_topics(context, plan.topics)
        yield context


def _start(cluster: Cluster) -> None:
    """All nodes that start with the cluster; between ZooKeeper and the brokers the topics that these are to find."""
    plan = cluster.plan
    nodes = [node for node in plan.topology.nodes if node.start == "now"]
    if prepared := [topic for topic in plan.topics if topic.prepared]:
        cluster.start([node.name for node in nodes if "zookeeper" in node.roles])
        prepare_topics(prepared, cluster.layout.ensemble())
        nodes = [node for node in nodes if "zookeeper" not in node.roles]
    cluster.start([node.name for node in nodes], READY_WITHIN + plan.prepared_seconds)


def _watched(cluster: Cluster) -> tuple[Watched, ...]:
    return tuple(
        Watched(
            node.name,
            node.id,
            cluster.probe_address(node.name, _asked_at(node)),
            node.is_controller,
            node.is_zookeeper,
            node.duplicate_of is not None,
        )
        for node in cluster.layout.nodes
    )


def _asked_at(node: Node) -> Listener:
    if node.is_zookeeper:
        return Listener.ZOOKEEPER
    return Listener.CONTROLLER if node.is_controller else Listener.CLIENT


def _judged(folder: RunFolder) -> RunVerdict:
    """And reported; that is loaded late: it brings a template engine, and a broken page must not cost a verdict."""
    verdict = judge_folder(folder)
    from harness.report import write_report

    write_report(folder)
    return verdict
