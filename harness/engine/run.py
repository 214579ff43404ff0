"""Run a plan from start to end: plan on disk, cluster, steps beside the workload, verdict, report."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from fencepost.faults.capabilities import CapabilityError
from fencepost.harness.backends import ELSEWHERE, PROCESS, backend_for, check_backend
from fencepost.harness.catalogue import catalogue
from fencepost.harness.checkers.added import added_checkers
from fencepost.harness.clients.observer import ObservedNode, Observer
from fencepost.harness.clients.workload import Workload
from fencepost.harness.clients.zookeeper.leaderless import prepare_topics
from fencepost.harness.cluster.cluster import READY_WITHIN, Cluster
from fencepost.harness.disk_space import check_disk_space, disk_space_errors
from fencepost.harness.engine.active_faults import ActiveFaults
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.execute import ProgressListener, await_topics, execute
from fencepost.harness.engine.identity import identify
from fencepost.harness.engine.living import LivingCluster, log_sizes
from fencepost.harness.engine.manifest import add_identity, describe
from fencepost.harness.engine.node_logs import Instants, NodeLogs
from fencepost.harness.engine.offered import check_offered
from fencepost.harness.engine.references import coordinator_roles
from fencepost.harness.engine.watchdog import Watchdog, latest_end
from fencepost.harness.errors import HarnessError, UsageError
from fencepost.harness.judge import judge_folder
from fencepost.harness.network.layout import Listener, Node
from fencepost.harness.plan.file import PlanError
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.rehearsal import problems_to_run
from fencepost.harness.plan.saved import save_plan
from fencepost.harness.plan.topic_changes import own_topics
from fencepost.harness.processes.run_delays import WaitingNodes
from fencepost.harness.targets import registry as targets
from fencepost.harness.targets.consent import consented
from fencepost.harness.targets.fitting import check_design, check_roles
from fencepost.harness.targets.outside import bound
from fencepost.harness.targets.securing import check_security, with_security
from fencepost.harness.targets.security import access
from fencepost.harness.targets.target import Target
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter
from fencepost.results.records.progress import Phase
from fencepost.results.records.verdict import RunVerdict

TOPICS_WITHIN = 15.0
"""Seconds for the request that creates a plan's topics."""


class RunInterrupt(KeyboardInterrupt):
    """The run was interrupted. It was ended and judged; what would come after it does not begin."""

    def __init__(self, folder: RunFolder, verdict: RunVerdict) -> None:
        super().__init__(f"{folder.path} was interrupted")
        self.folder = folder
        self.verdict = verdict


class NoProgress:
    """A ProgressListener that ignores the progress."""

    def report(self, phase: Phase, *, step: str | None = None, proof: str | None = None) -> None:
        pass


def run(
    plan: Plan,
    runs: Path,
    backend: str = "process",
    listener: ProgressListener | None = None,
    *,
    end_early: bool = False,
    living: LivingCluster | None = None,
) -> tuple[RunFolder, RunVerdict]:
    """Run a plan in a new folder in `runs`, and judge it. With `end_early` only until a claim is broken for certain.

    It runs on the cluster of `living`, which may live on after it; without, on one of its own.

    Raise PlanError, CatalogueError or UsageError before anything exists. From then on each error is part of the
    verdict, and every process that was started is ended. So it is after an interrupt, which raises RunInterrupt with
    folder and verdict.
    """
    plan, target = check(plan, runs, backend)
    with disk_space_errors(runs):
        with recorded(plan, runs, target, backend) as recording:
            cluster = (Cluster if living is None else living.lease)(
                plan, recording.folder, recording.journal, target, backend
            )
            _live(cluster, recording, listener or NoProgress(), plan, end_early=end_early)
        verdict = recording.judge(plan)
        if living is not None:
            living.judged(plan, recording.folder, verdict)
    if recording.interrupted:
        raise RunInterrupt(recording.folder, verdict)
    return recording.folder, verdict


def check(plan: Plan, runs: Path, backend: str) -> tuple[Plan, Target]:
    """Return the plan as its target runs it, and the target. Raise as `check_plan`, also for what the machine lacks."""
    check_backend(backend)
    plan, target = check_plan(plan)
    if target.file.running is not None:
        consented(target.file.name)
    if target.file.services and backend != PROCESS:
        raise UsageError(f"{target.file.name} has services, which only --backend {PROCESS} starts")
    check_disk_space(runs)
    return plan, target


def check_plan(plan: Plan) -> tuple[Plan, Target]:
    """Return the plan as its target runs it: with the security, or on a cluster elsewhere the names, that it asks for.

    With it the target. Raise PlanError, CatalogueError or UsageError if it cannot be run on that.
    """
    target = targets.load(plan.target)
    plan = with_security(plan, target.file.security) if target.file.running is None else bound(plan)
    if wrong := problems_to_run(plan):
        raise PlanError([f"{problem.message} (in {'.'.join(map(str, problem.at))})" for problem in wrong])
    catalogue()  # the verdict needs it: a mistake in it is reported before anything starts
    target.file.check_levels(plan)
    check_roles(target.file, plan)
    check_design(target.file, plan)
    check_security(target, plan.secured)
    added_checkers(target.file.checkers, target.file.beside)  # a mistake in them is found before anything starts
    return plan, target


@dataclass
class Recording:
    """The folder and the journal of one run while it goes on."""

    folder: RunFolder
    journal: JournalWriter
    interrupted: bool = False

    def judge(self, plan: Plan) -> RunVerdict:
        """Judge the run once it is over. A run that is interrupted meanwhile is judged all the same."""
        try:
            return _judged(self.folder, plan)
        except (KeyboardInterrupt, SystemExit):
            self.interrupted = True
            return _judged(self.folder, plan)


@contextmanager
def recorded(plan: Plan, runs: Path, target: Target, backend: str) -> Iterator[Recording]:
    """Make the folder of a run and write its journal from begin to end.

    Every error of the block, also an interrupt, is journalled, and ends there.
    """
    folder = RunFolder.create(runs, plan_hash(plan), date.today())
    save_plan(folder, plan)
    targets.keep_copy(target.file.name, folder)
    describe(plan, folder, target.version, backend_for(target, backend)).save(folder.manifest)
    with JournalWriter(folder.journal) as journal:
        journal.write(
            "run", folder.name, "begin", {"scenario": plan.scenario, "target": plan.target, "seed": plan.seed}
        )
        recording = Recording(folder, journal)
        try:
            yield recording
        except (KeyboardInterrupt, SystemExit):
            recording.interrupted = True
            journal.infrastructure("the run was interrupted")
        except (HarnessError, CapabilityError) as error:
            journal.infrastructure(str(error))
        except Exception as error:
            details = folder.logs / "harness.log"
            details.write_text(traceback.format_exc(), encoding="utf-8")
            journal.infrastructure(f"the harness itself failed: {error!r}; see {details}")
        journal.write("run", folder.name, "end")


def _live(
    lease: AbstractContextManager[Cluster],
    recording: Recording,
    listener: ProgressListener,
    plan: Plan,
    *,
    end_early: bool,
) -> None:
    """Run the cluster and the steps. The observer watches until all nodes are ended on purpose."""
    folder, journal = recording.folder, recording.journal
    with (
        Watchdog(folder, journal, lambda message: listener.report(Phase.STEP, step=message)) as watchdog,
        lease as cluster,
        identified(cluster, folder),
    ):
        watchdog.arm(latest_end(plan))
        with started(cluster) as context:
            listener.report(Phase.RUNNING)
            try:
                execute(context, listener, end_early=end_early)
            except (KeyboardInterrupt, SystemExit):
                listener.report(Phase.STEP, step="interrupted: ending the cluster")
                raise


@contextmanager
def identified(cluster: Cluster, folder: RunFolder) -> Iterator[None]:
    """Write into the manifest what ran in the nodes, once the run is over.

    Digests of a hundred megabytes of jars would take time from its steps.
    """
    try:
        yield
    finally:
        started = identify(cluster.processes.starts, cluster.backend, cluster.target.file.commit)
        add_identity(folder, started)


@contextmanager
def started(cluster: Cluster, seconds: float | None = None) -> Iterator[Context]:
    """Start the cluster, its topics, its observer and its workload.

    The run must be over after `seconds`, or after the plan's deadline.
    """
    plan, journal = cluster.plan, cluster.journal
    with ExitStack() as stack:
        deadline = time.monotonic() + (plan.deadline_ms / 1000 if seconds is None else seconds)
        sizes = log_sizes(cluster.folder)
        _start(cluster)
        check_offered(cluster)
        dialect = cluster.target.file.dialect
        unqueried = plan.prepared_topics | plan.huge_topics
        observer = stack.enter_context(
            Observer(
                _watched(cluster),
                dialect,
                journal,
                unqueried,
                lives_on=cluster.lives_on,
                coordinators=coordinator_roles(plan) if cluster.target.file.finds_coordinators else (),
                only_topics=own_topics(plan) if cluster.backend == ELSEWHERE else None,
            )
        )
        stack.enter_context(WaitingNodes(cluster.pids, journal))
        file = cluster.target.file
        assigns, by_use = file.promises.replication == "isr", file.topics == "by use"
        workload = Workload(plan, journal, cluster.client_settings, assigns=assigns, by_use=by_use)
        stack.callback(workload.stop)
        logs = NodeLogs(cluster.folder.logs, [node.name for node in plan.topology.nodes], sizes)
        instants = Instants(logs.mark)
        active_faults = ActiveFaults(journal, instants)
        context = Context(
            plan, cluster, journal, observer, workload, active_faults, logs, deadline, instants, legacy=cluster.legacy
        )
        if plan.prepared_topics:
            await_topics(context, [topic for topic in plan.topics if topic.prepared])
        with context.clients.recorder.creating(plan.topics):
            workload.create_topics(TOPICS_WITHIN)
        await_topics(context, plan.topics)
        yield context


def _start(cluster: Cluster) -> None:
    """Start all nodes of the cluster. Prepare topics that the brokers must find after ZooKeeper has started."""
    plan = cluster.plan
    nodes = [node for node in plan.topology.nodes if node.start == "now"]
    if prepared := [topic for topic in plan.topics if topic.prepared]:
        cluster.start([node.name for node in nodes if "zookeeper" in node.roles])
        prepare_topics(prepared, cluster.layout.ensemble(), READY_WITHIN + plan.prepared_seconds)
        nodes = [node for node in nodes if "zookeeper" not in node.roles]
    cluster.start([node.name for node in nodes], READY_WITHIN + plan.prepared_seconds)


def _watched(cluster: Cluster) -> tuple[ObservedNode, ...]:
    """Return the nodes to observe, one of two roles once for each."""
    return tuple(
        ObservedNode(
            node.name,
            node.quorum_id if listener is Listener.CONTROLLER else node.id,
            cluster.probe_address(node.name, listener),
            listener is Listener.CONTROLLER,
            node.is_zookeeper,
            node.duplicate_of is not None,
            access(listener, cluster.installation),
        )
        for node in cluster.layout.nodes
        for listener in _probe_listeners(node)
    )


def _probe_listeners(node: Node) -> tuple[Listener, ...]:
    if node.is_zookeeper:
        return (Listener.ZOOKEEPER,)
    if node.is_service:
        return ()
    broker = (Listener.CLIENT,) if node.is_broker else ()
    return (Listener.CONTROLLER, *broker) if node.is_controller else broker


def _judged(folder: RunFolder, plan: Plan) -> RunVerdict:
    """Judge the run and write its report. That is imported late, so that a broken template costs no verdict."""
    verdict = judge_folder(folder, plan)
    from fencepost.harness.report import write_report

    write_report(folder, plan)
    return verdict
