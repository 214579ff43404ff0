"""Inject steps: wait for the moment, resolve the nodes, inject the fault, prove its effect.

    aimed early   resolve, set up, intent ── wait for the line ── [plus_ms] ── inject, prove
    aimed late    wait for the condition ── [plus_ms] ── resolve, set up, intent ── inject, prove

A fault is aimed early if its references resolve to the same nodes at any time: it takes effect within milliseconds of
the line that it waits for. All others are aimed late: the node that leads once the condition is true may not lead, or
not even run, before.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from fencepost.faults.capabilities import Processes, Running
from fencepost.faults.fault import Fault
from fencepost.faults.registry import FAULTS
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.conditions import await_condition
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import StepTimeout
from fencepost.harness.engine.node_logs import NodeLogs
from fencepost.harness.engine.references import References
from fencepost.harness.engine.run_clock import RunClock
from fencepost.harness.plan.base import LogLine
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.injects import Inject
from fencepost.results.records.journal import JournalWriter


def inject(step: Inject, name: str, context: Context) -> Mapping[str, Any]:
    """Inject the fault, prove its effect, and return the data of the step's end for the journal.

    Raise StepTimeout if the condition or the line that it waits for does not come, FaultError if its effect is not
    proven.
    """
    observed: dict[str, Any] = {}

    def moment() -> None:
        observed.update(_await(step, name, context))

    if step.aimed_early:
        fault, params = _aim(step, context.references, context.cluster)
        proven = context.active_faults.inject(name, fault, params, moment)
    else:
        moment()
        fault, params = _aim(step, context.references, context.cluster)
        proven = context.active_faults.inject(name, fault, params)
    _keep_last_words(name, fault, context.cluster.processes, context.logs, context.journal)
    return {"outcome": "done", **params, **observed, "how": proven.data["how"]}


def _aim(step: Inject, references: References, cluster: Cluster) -> tuple[Fault, dict[str, Any]]:
    """Build the fault; return its parameters, too, with the nodes that the plan's references resolve to now."""
    parameters = step.parameters.resolved(references.node, references.nodes)
    return FAULTS[step.fault](cluster, parameters), parameters.model_dump(mode="json", by_alias=True)


def _await(step: Inject, name: str, context: Context) -> Mapping[str, Any]:
    """Wait until the fault is to be injected; journal and return what was observed, at the time at which it was."""
    if step.when is None:
        return {}
    if isinstance(step.when, LogLine):
        observed = _await_line(step.when, context.references.node(step.heard or ""), context.logs, context.clock)
    else:
        observed = _await_condition(step.when, name, context)
    at = time.monotonic()
    context.journal.write("note", f"when-{name}", "seen", {"what": "anchor", **observed})
    if step.plus_ms:
        context.clock.sleep_until(at + step.plus_ms / 1000)
    return observed


def _await_line(said: LogLine, node: str, logs: NodeLogs, clock: RunClock) -> Mapping[str, Any]:
    line = logs.await_line(node, said, min(time.monotonic() + said.within_ms / 1000, clock.deadline))
    if line is None:
        clock.check_deadline()
        raise StepTimeout(f"no line of {node}'s log had {said.says!r} within {said.within_ms} ms")
    return {"line": line, "said_by": node}


def _await_condition(when: AwaitStep, name: str, context: Context) -> Mapping[str, Any]:
    wait = await_condition(when, name, context)
    if not wait.came:
        raise StepTimeout(f"`{when.condition}` did not become true within {when.within_ms} ms: {wait.seen}")
    return {"condition": when.condition, "seen": wait.seen, **wait.found}


def _keep_last_words(name: str, fault: Fault, processes: Processes, logs: NodeLogs, journal: JournalWriter) -> None:
    """Journal what a node that the fault stopped wrote after the awaited line: it will write nothing more now."""
    for node in sorted(fault.nodes()):
        silent = processes.status(node).running is not Running.RUNNING
        if silent and (lines := logs.since_found(node)):
            journal.write("note", f"said-by-{name}", "seen", {"what": "last words", "lines": lines}, node=node)
