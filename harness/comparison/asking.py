"""Run a plan on one target for its answers: a step that cannot be done, or a broker that ends, ends no other probe."""

from __future__ import annotations

from pathlib import Path

from fencepost.faults.capabilities import CapabilityError, Running
from fencepost.harness.cluster.cluster import READY_WITHIN, Cluster
from fencepost.harness.disk_space import disk_space_errors
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import FaultError, StepError
from fencepost.harness.engine.execute import Execution, ProgressListener, executing
from fencepost.harness.engine.run import RunInterrupt, check, identified, recorded, started
from fencepost.harness.errors import DeadlinePassed, InfrastructureError
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import RunVerdict


def ask_all(plan: Plan, runs: Path, backend: str, listener: ProgressListener) -> tuple[RunFolder, RunVerdict]:
    """Run all steps of a plan, and judge the run. Raises as `engine.run.run` does.

    A broker that ends at a probe is started again on what it left, and the next probes are asked of it.
    """
    plan, target = check(plan, runs, backend)
    with disk_space_errors(runs):
        with recorded(plan, runs, target, backend) as recording:
            cluster = Cluster(plan, recording.folder, recording.journal, target, backend)
            with (
                cluster,
                identified(cluster, recording.folder),
                started(cluster) as context,
                executing(context, listener) as execution,
            ):
                execution.begin()
                _perform(plan, execution, context)
                execution.end()
        verdict = recording.judge(plan)
    if recording.interrupted:
        raise RunInterrupt(recording.folder, verdict)
    return recording.folder, verdict


def _perform(plan: Plan, execution: Execution, context: Context) -> None:
    """Perform the steps. Only what is no probe ends them if it cannot be done: the rest would ask in another state."""
    for place, step in enumerate(plan.steps):
        try:
            execution.perform(step, plan.step_name(place), place + 1)
        except DeadlinePassed:
            return
        except (StepError, FaultError):
            if not isinstance(step, ProbeStep):
                return
        except InfrastructureError:
            return
        if isinstance(step, ProbeStep) and not _revived(context):
            return


def _revived(context: Context) -> bool:
    """Start brokers that ended by themselves; return whether they serve."""
    processes = context.cluster.processes
    for node in context.plan.topology.nodes:
        known = node.start == "now" and "broker" in node.roles
        if known and processes.status(node.name).running is Running.EXITED:
            try:
                processes.start(node.name)
                processes.await_ready(node.name, READY_WITHIN)
            except CapabilityError as error:
                context.journal.infrastructure(f"{node.name} ended, and was not started again: {error}")
                return False
    return True
