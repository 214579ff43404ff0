"""The parts of a plan, and the plan without some of them.

Everything that refers to a dropped part is dropped as well: the heal of a fault, a hold after it, a probe of a node.
`fencepost.harness.plan.checks` finds these, so a plan that is left can be run, or there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pydantic import ValidationError

from fencepost.harness.plan.base import PlanModel
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.hash import plain
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.rehearsal import problems_to_run
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.plan.steps.workload import Workload


class PartKind(Enum):
    """Kinds of parts, in the order in which they are dropped: those with the most dependent parts first."""

    FAULT = "fault"
    """With its heal, and the steps after it up to the next fault or heal."""
    BARE_FAULT = "bare fault"
    """With its heal, and only the steps that name it."""
    STEP = "step"
    CLIENT = "client"
    TOPIC = "topic"
    NODE = "node"


@dataclass(frozen=True)
class Part:
    """A part of a plan, by kind and name."""

    kind: PartKind
    name: str


def named(plan: Plan) -> Plan:
    """Return the same plan with every step named, so that names stay when earlier steps are dropped."""
    steps = [
        step if step.as_ is not None else step.model_copy(update={"as_": plan.step_name(place)})
        for place, step in enumerate(plan.steps)
    ]
    return plan.model_copy(update={"steps": tuple(steps)})


def parts(plan: Plan, kind: PartKind) -> tuple[Part, ...]:
    """Return all parts of one kind, in the order of the plan."""
    return tuple(Part(kind, name) for name in _NAMES[kind](plan))


def without(plan: Plan, dropped: Collection[Part]) -> Plan | None:
    """Return the plan without these parts; None if none is left that can run. All its steps have to be named."""
    for part in dropped:
        smaller = _DROP[part.kind](plan, part.name)
        if smaller is None:
            return None
        plan = smaller
    return mended(plan)


def mended(plan: Plan) -> Plan | None:
    """Return the plan without steps and clients that refer to missing parts; None if it still has mistakes."""
    while wrong := problems_to_run(plan):
        places = {problem.at[:2] for problem in wrong if problem.at[0] in ("steps", "coverage")}
        clients = {problem.at[:3] for problem in wrong if problem.at[0] == "workload"}
        if len(places) + len(clients) == 0:
            return None
        plan = _left(plan, places, clients)
    try:
        return Plan.model_validate(plain(plan))
    except ValidationError:
        return None


def _left(plan: Plan, places: Collection[Any], clients: Collection[Any]) -> Plan:
    def kept(*at: str) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        gone = {place[-1] for place in (*places, *clients) if place[:-1] == at}
        return lambda items: tuple(item for number, item in enumerate(items) if number not in gone)

    workload = plan.workload.model_copy(
        update={
            "producers": kept("workload", "producers")(plan.workload.producers),
            "consumers": kept("workload", "consumers")(plan.workload.consumers),
        }
    )
    return plan.model_copy(
        update={
            "steps": kept("steps")(plan.steps),
            "coverage": kept("coverage")(plan.coverage),
            "workload": workload,
        }
    )


def _fault_names(plan: Plan) -> Iterator[str]:
    return (step.as_ for step in plan.steps if isinstance(step, InjectStep))


def _step_names(plan: Plan) -> Iterator[str]:
    """Yield all steps except faults, heals, and the start of the workload, without which no record is acknowledged."""
    for place, step in enumerate(plan.steps):
        work = isinstance(step, Workload) and step.action == "start"
        if not isinstance(step, InjectStep | Heal) and not work:
            yield plan.step_name(place)


def _client_names(plan: Plan) -> Iterator[str]:
    yield from (spec.name for spec in plan.workload.producers)
    yield from (spec.name for spec in plan.workload.consumers)


_NAMES: dict[PartKind, Callable[[Plan], Iterator[str]]] = {
    PartKind.FAULT: _fault_names,
    PartKind.BARE_FAULT: _fault_names,
    PartKind.STEP: _step_names,
    PartKind.CLIENT: _client_names,
    PartKind.TOPIC: lambda plan: (topic.name for topic in plan.topics),
    PartKind.NODE: lambda plan: (node.name for node in plan.topology.nodes),
}


def _without_fault(plan: Plan, name: str) -> Plan:
    """Drop a fault, and the steps after it that wait, hold or probe, up to the next step of another kind."""
    follows = (AwaitStep, Hold, ProbeStep, Produce)
    steps: list[Any] = []
    inside = False
    for step in plan.steps:
        if step.as_ == name:
            inside = True
            continue
        inside = inside and isinstance(step, follows)
        if not inside:
            steps.append(step)
    return plan.model_copy(update={"steps": tuple(steps)})


def _without_step(plan: Plan, name: str) -> Plan:
    return plan.model_copy(update={"steps": tuple(step for step in plan.steps if step.as_ != name)})


def _without_client(plan: Plan, name: str) -> Plan:
    workload = plan.workload.model_copy(
        update={
            "producers": tuple(spec for spec in plan.workload.producers if spec.name != name),
            "consumers": tuple(spec for spec in plan.workload.consumers if spec.name != name),
        }
    )
    steps = (_without_name(step, name) for step in plan.steps)
    return plan.model_copy(update={"workload": workload, "steps": tuple(step for step in steps if step is not None)})


def _without_topic(plan: Plan, name: str) -> Plan:
    """Drop a topic, and the steps about its partitions, which the check of a plan does not find."""
    partitions = {f"{name}-{number}" for topic in plan.topics for number in range(len(topic.assignments))}
    steps = [
        step
        for step in plan.steps
        if getattr(step, "topic", None) != name and getattr(step, "partition", None) not in partitions
    ]
    topics = tuple(topic for topic in plan.topics if topic.name != name)
    return plan.model_copy(update={"topics": topics, "steps": tuple(steps)})


def _without_node(plan: Plan, name: str) -> Plan | None:
    """Drop a node and its replicas. None if a role or a partition would have no node left."""
    spec = plan.node(name)
    nodes = tuple(node for node in plan.topology.nodes if node.name != name)
    if {role for node in plan.topology.nodes for role in node.roles} - {role for node in nodes for role in node.roles}:
        return None
    gone = {spec.id} if "broker" in spec.roles and spec.is_original else set()
    topics = [
        topic.model_copy(
            update={"assignments": tuple(tuple(id for id in ids if id not in gone) for ids in topic.assignments)}
        )
        for topic in plan.topics
    ]
    if any(not ids for topic in topics for ids in topic.assignments):
        return None
    steps = (_without_name(step, name) for step in plan.steps)
    return plan.model_copy(
        update={
            "topology": plan.topology.model_copy(update={"nodes": nodes}),
            "topics": tuple(topics),
            "steps": tuple(step for step in steps if step is not None),
        }
    )


def _without_name(step: Any, name: str) -> Any:
    """A step that lists the name among others goes on without it; None if it would be left with an empty list."""
    assert isinstance(step, PlanModel)
    changes = {}
    for field in type(step).model_fields:
        value = getattr(step, field)
        if isinstance(value, tuple) and name in value:
            changes[field] = tuple(item for item in value if item != name)
            if not changes[field]:
                return None
    return step.model_copy(update=changes) if changes else step


_DROP: dict[PartKind, Callable[[Plan, str], Plan | None]] = {
    PartKind.FAULT: _without_fault,
    PartKind.BARE_FAULT: _without_step,
    PartKind.STEP: _without_step,
    PartKind.CLIENT: _without_client,
    PartKind.TOPIC: _without_topic,
    PartKind.NODE: _without_node,
}
