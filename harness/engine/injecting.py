"""Inject steps: what a fault waits for, whom it is aimed at, and that it hits then.

    aimed early   resolve, set up, intent ── wait for the line ── [plus_ms] ── inject, prove
    aimed late    wait for the condition ── [plus_ms] ── resolve, set up, intent ── inject, prove

Early where it leads to the same nodes whenever it is aimed, and hits within milliseconds of the line that it waits for.
Late for all others: who leads once the condition has come true may not lead before, or not even run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from faults.capabilities import Running
from faults.fault import Fault
from faults.registry import build
from harness.engine.conditions import found, holds, looked_at_every, predicate, seen
from harness.engine.context import Context, Missed
from harness.plan.base import Said
from harness.plan.conditions import Await
from harness.plan.injects import Inject


def inject(step: Inject, name: str, context: Context) -> Mapping[str, Any]:
    """Inject and prove; what the journal says at the step's end. Missed if what it waits for does not come true."""
    observed: dict[str, Any] = {}

    def moment() -> None:
        observed.update(_await(step, name, context))

    if step.aimed_early:
        fault, params = _aim(step, context)
        proven = context.keeper.inject(name, fault, params, moment)
    else:
        moment()
        fault, params = _aim(step, context)
        proven = context.keeper.inject(name, fault, params)
    _keep_last_words(name, fault, context)
    return {"outcome": "done", **params, **observed, "how": proven.data["how"]}


def _aim(step: Inject, context: Context) -> tuple[Fault, dict[str, Any]]:
    """The fault, and its parameters with the nodes that the plan's references lead to now."""
    params: dict[str, Any] = step.model_dump(by_alias=True, exclude={"do", "as_", "fault", "when", "plus_ms"})
    for field in step.many_nodes:
        if (key := field.rstrip("_")) in params:
            params[key] = list(context.nodes(params[key]))
    for key in step.one_node:
        if params.get(key) is not None:
            params[key] = context.node(params[key])
    return build(step.fault, context.cluster, params), params


def _await(step: Inject, name: str, context: Context) -> Mapping[str, Any]:
    """Until the fault is to hit. What was observed is journalled with the time at which it was, and given."""
    if step.when is None:
        return {}
    if isinstance(step.when, Said):
        observed = _await_said(step.when, step.heard or "", context)
    else:
        observed = _await_condition(step.when, name, context)
    at = time.monotonic()
    context.journal.write("note", f"when-{name}", "seen", {"what": "anchor", **observed})
    if step.plus_ms:
        context.wait(lambda: False, at + step.plus_ms / 1000)
    return observed


def _await_said(said: Said, heard: str, context: Context) -> Mapping[str, Any]:
    node = context.node(heard)
    deadline = min(time.monotonic() + said.within_ms / 1000, context.deadline)
    line = context.logs.await_said(node, said, deadline)
    if line is None:
        context.check_deadline()
        raise Missed(f"no line of {node}'s log had {said.says!r} within {said.within_ms} ms")
    return {"line": line, "said_by": node}


def _await_condition(when: Await, name: str, context: Context) -> Mapping[str, Any]:
    if when.after is not None:
        context.wait(lambda: False, context.moment(when.after))
    condition = predicate(when, name, context)
    if not context.wait(lambda: holds(condition), time.monotonic() + when.within_ms / 1000, looked_at_every(when)):
        raise Missed(f"`{when.condition}` did not come true within {when.within_ms} ms: {seen(when, context)}")
    return {"condition": when.condition, "seen": seen(when, context), **found(condition)}


def _keep_last_words(name: str, fault: Fault, context: Context) -> None:
    """Journal what a node that was hit went on to say after a line that was waited for: it says no more now."""
    for node in sorted(fault.nodes()):
        silent = context.cluster.processes.status(node).running is not Running.RUNNING
        if silent and (lines := context.logs.since_found(node)):
            context.journal.write("note", f"said-by-{name}", "seen", {"what": "last words", "lines": lines}, node=node)
