"""Checks of steps, in their order, and of the coverage: what a step names has to come before it."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.faults.registry import FAULTS
from fencepost.harness.plan.base import LogLine
from fencepost.harness.plan.checks.clients import clients_of, senders_of
from fencepost.harness.plan.checks.problem import Problem, not_yet, unknown
from fencepost.harness.plan.checks.references import instant_problems, partition_problems, step_references
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Committed, Plan
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.security import unsuitable_fault
from fencepost.harness.plan.steps.backup import Backup
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.plan.steps.start import Start
from fencepost.harness.plan.words import Word

OF_MANY = ("brokers", "controllers", "followers:")
"""Beginnings of references that usually match several nodes."""


def step_problems(plan: Plan) -> Iterator[Problem]:
    seen: set[str] = set()
    bound: set[str] = set()
    faults: set[str] = set()
    ended: set[str] = set()
    copies: set[str] = set()
    for place, step in enumerate(plan.steps):
        at = ("steps", place)
        yield from step_references(at, step, plan, bound)
        if isinstance(step, ProbeStep):
            yield from _probe(at, step, plan, bound)
        if isinstance(step, Word):
            for key, message in step.problems(plan):
                yield Problem((*at, key), message)
        if isinstance(step, Heal) and step.fault not in faults:
            yield Problem((*at, "fault"), not_yet("fault", step.fault, faults))
        after = step.after if isinstance(step, Hold) else getattr(getattr(step, "after", None), "event", None)
        if after is not None:
            yield from instant_problems((*at, "after"), after, seen, faults)
        if isinstance(step, InjectStep):
            yield from _when(at, step, plan, bound, seen, faults)
            if (reason := unsuitable_fault(FAULTS[step.fault], plan.secured)) is not None:
                yield Problem((*at, "fault"), f"`{step.fault}`: {reason}: take another `security`")
            for key, message in step.problems(plan.topology.nodes, copies):
                yield Problem((*at, key), message)
        if isinstance(step, Start):
            yield from _later((*at, "nodes"), step, plan, ended)
        gone = step.ended if isinstance(step, Word) else None
        ended.update((gone,) if isinstance(gone, str) else gone or ())
        name = plan.step_name(place)
        if name in seen:
            yield Problem((*at, "as"), f"a second step is named `{name}`")
        seen.add(name)
        if isinstance(step, Bind):
            bound.add(name)
        if isinstance(step, Backup):
            copies.add(name)
        if step.do == "inject":
            faults.add(name)


def _probe(at: tuple[str | int, ...], step: ProbeStep, plan: Plan, bound: set[str]) -> Iterator[Problem]:
    """Check the partitions and the bound values that a request names; note the names that its answer binds."""
    for part in step.unchanged:
        if part != "brokers":
            yield from partition_problems((*at, "unchanged"), part, plan)
    for key, name in step.uses():
        if name not in bound:
            yield Problem((*at, key), not_yet("bind", name, bound))
    bound.update(step.bound)


def _when(
    at: tuple[str | int, ...], step: InjectStep, plan: Plan, bound: set[str], seen: set[str], faults: set[str]
) -> Iterator[Problem]:
    """Check the condition that a fault waits for."""
    when, here = step.when, (*at, "when")
    if when is None:
        if step.plus_ms is not None:
            message = (
                "`plus_ms` counts from `when`, which is missing: add it, or use a hold step to wait after an instant"
            )
            yield Problem((*at, "plus_ms"), message)
        return
    yield from step_references(here, when, plan, bound)
    if isinstance(when, LogLine):
        if when.since is not None:
            yield from instant_problems((*here, "since"), when.since, seen, faults)
        if step.heard is None or step.heard.startswith(OF_MANY):
            yield Problem(here, "`when` reads the log of one node: name it, `when: {node: node-4, says: …}`")
        return
    if when.after is not None:
        yield from instant_problems((*here, "after"), when.after.event, seen, faults)
    for key in ("as_", "expect"):
        if getattr(when, key) is not None:
            message = f"`{key.rstrip('_')}` belongs to an await step: the condition of a fault claims nothing"
            yield Problem((*here, key.rstrip("_")), message)
    for key, message in when.problems(plan):
        yield Problem((*here, key), message)


def _later(at: tuple[str | int, ...], step: Start, plan: Plan, ended: set[str]) -> Iterator[Problem]:
    """Check the nodes of a start step. `ended` has the references, also roles, of nodes that ended before it."""
    any_node = any(ref not in {node.name for node in plan.topology.nodes} for ref in ended)
    for ref in (step.nodes,) if isinstance(step.nodes, str) else step.nodes:
        spec = next((node for node in plan.topology.nodes if node.name == ref), None)
        if spec is not None and spec.start != "later" and ref not in ended and not any_node:
            yield Problem(
                at,
                f"{ref} starts with the cluster: give it `start: later`, or shut it down or await its exit in an "
                "earlier step",
            )


def coverage_problems(plan: Plan) -> Iterator[Problem]:
    names = {plan.step_name(place) for place in range(len(plan.steps))}
    senders = senders_of(plan)
    clients = clients_of(plan)
    faults = {plan.step_name(place) for place, step in enumerate(plan.steps) if step.do == "inject"}
    for place, item in enumerate(plan.coverage):
        at = ("coverage", place)
        for key in ("step", "fault"):
            name = getattr(item, key, None)
            if name is not None and name not in (faults if key == "fault" else names):
                yield Problem((*at, key), unknown(key, name, names))
        by = getattr(item, "by", None)
        allowed = clients if isinstance(item, Committed) else senders
        if by is not None and by not in allowed:
            yield Problem((*at, "by"), unknown("client" if isinstance(item, Committed) else "producer", by, allowed))
        for key in ("after", "before"):
            instant = getattr(item, key, None)
            if instant is not None:
                yield from instant_problems((*at, key), instant, names, faults)
