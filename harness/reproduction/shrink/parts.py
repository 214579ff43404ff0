"""What a plan is made of, and the plan that is left when some of it is taken out.

Whatever refers to what was taken out goes with it: a fault's heal, a hold after it, a probe of a node that is gone.
`harness.plan.check` finds these, so a plan that is left is one that can be run, or there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pydantic import ValidationError

from harness.plan.base import PlanModel
from harness.plan.check import problems
from harness.plan.conditions import AwaitStep
from harness.plan.hash import plain
from harness.plan.injects import InjectStep
from harness.plan.model import Plan
from harness.plan.probes import ProbeStep
from harness.plan.steps import Heal, Hold, Produce, Workload


class Kind(Enum):
    """In the order in which they are tried: what takes most with it comes first."""

    FAULT = "fault"
    """With its heal, and the steps that follow it until something else is broken or healed."""
    BARE_FAULT = "bare fault"
    """With its heal, and only what names it."""
    STEP = "step"
    CLIENT = "client"
    TOPIC = "topic"
    NODE = "node"


@dataclass(frozen=True)
class Part:
    kind: Kind
    name: str


def named(plan: Plan) -> Plan:
    """The same plan with every step named, so that names stay when steps before them go."""
    steps = [
        step if step.as_ is not None else step.model_copy(update={"as_": plan.step_name(place)})
        for place, step in enumerate(plan.steps)
    ]
    return plan.model_copy(update={"steps": tuple(steps)})


def parts(plan: Plan, kind: Kind) -> tuple[Part, ...]:
    """All of one kind, in the plan's order."""
    return tuple(Part(kind, name) for name in _NAMES[kind](plan))


def without(plan: Plan, dropped: Collection[Part]) -> Plan | None:
    """What is left; None if that is no plan. The plan's steps are all named."""
    for part in dropped:
        left = _DROP[part.kind](plan, part.name)
        if left is None:
            return None
        plan = left
    return mended(plan)


def mended(plan: Plan) -> Plan | None:
    """The plan without what leads nowhere; None if that does not help."""
    while wrong := problems(plan):
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
    """All but faults, their heals, and the start of the work, without which nothing is ever acknowledged."""
    for place, step in enumerate(plan.steps):
        work = isinstance(step, Workload) and step.action == "start"
        if not isinstance(step, InjectStep | Heal) and not work:
            yield plan.step_name(place)


def _client_names(plan: Plan) -> Iterator[str]:
    yield from (spec.name for spec in plan.workload.producers)
    yield from (spec.name for spec in plan.workload.consumers)


_NAMES: dict[Kind, Callable[[Plan], Iterator[str]]] = {
    Kind.FAULT: _fault_names,
    Kind.BARE_FAULT: _fault_names,
    Kind.STEP: _step_names,
    Kind.CLIENT: _client_names,
    Kind.TOPIC: lambda plan: (topic.name for topic in plan.topics),
    Kind.NODE: lambda plan: (node.name for node in plan.topology.nodes),
}


def _without_fault(plan: Plan, name: str) -> Plan:
    """Also what the fault is waited for, measured or probed by, up to the next step that breaks, heals or starts."""
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
    """And without steps about its partitions, which no check of a plan looks at."""
    partitions = {f"{name}-{number}" for topic in plan.topics for number in range(len(topic.assignments))}
    steps = [
        step
        for step in plan.steps
        if getattr(step, "topic", None) != name and getattr(step, "partition", None) not in partitions
    ]
    topics = tuple(topic for topic in plan.topics if topic.name != name)
    return plan.model_copy(update={"topics": topics, "steps": tuple(steps)})


def _without_node(plan: Plan, name: str) -> Plan | None:
    """Its replicas go too. None if a role, or a partition, would be left to nobody."""
    spec = plan.node(name)
    nodes = tuple(node for node in plan.topology.nodes if node.name != name)
    if {role for node in plan.topology.nodes for role in node.roles} - {role for node in nodes for role in node.roles}:
        return None
    gone = {spec.id} if "broker" in spec.roles and spec.duplicate_of is None else set()
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
            changes[field] = tuple(each for each in value if each != name)
            if not changes[field]:
                return None
    return step.model_copy(update=changes) if changes else step


_DROP: dict[Kind, Callable[[Plan, str], Plan | None]] = {
    Kind.FAULT: _without_fault,
    Kind.BARE_FAULT: _without_step,
    Kind.STEP: _without_step,
    Kind.CLIENT: _without_client,
    Kind.TOPIC: _without_topic,
    Kind.NODE: _without_node,
}
