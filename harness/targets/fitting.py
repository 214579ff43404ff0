"""Checks that a plan fits a target: its nodes make a cluster of it, its steps need nothing that the design lacks."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.harness.errors import UsageError
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.injects import InjectStep, When
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.needed_requests import needed_requests
from fencepost.harness.plan.refs import refs
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.harness.targets.file import TargetFile, workload_kinds
from fencepost.harness.targets.outside import refusal


def check_roles(file: TargetFile, plan: Plan) -> None:
    """Raise UsageError if the nodes of the plan are none that make a cluster of this target."""
    if file.dialect is Dialect.CLIENTS:
        _check_brokers(file, plan)
        return
    if several := [node.name for node in plan.topology.nodes if node.front_end_of is not None]:
        raise UsageError(
            f"{several[0]} is a further front end, and those share an id with `dialect: clients` only: drop it"
        )
    needed = "zookeeper" if file.dialect.uses_zookeeper else "controller"
    if all(needed not in node.roles for node in plan.topology.nodes):
        raise UsageError(
            f"the topology of the plan has no {needed}, and no cluster of {file.name} serves without one "
            f"(`dialect: {file.dialect}`): give a node `roles: [{needed}]`"
        )


def _check_brokers(file: TargetFile, plan: Plan) -> None:
    for node in plan.topology.nodes:
        if node.roles == ("service",) and node.name in file.services:
            continue
        if node.roles != ("broker",):
            raise UsageError(
                f"{node.name} has the roles {', '.join(node.roles)}, and all nodes of {file.name} are brokers "
                f"(`dialect: {file.dialect}`): give it `roles: [broker]`, or take it out of the topology"
            )
    if file.one_process and (later := [node.name for node in plan.topology.nodes if node.start == "later"]):
        raise UsageError(
            f"{later[0]} has `start: later`, and the brokers of {file.name} are one process (`one_process`): drop it"
        )
    if missing := file.services.keys() - {node.name for node in plan.topology.nodes}:
        name = min(missing)
        raise UsageError(
            f"the topology of the plan lacks the service {name} of {file.name}: add "
            f"{{name: {name}, id: 0, index: 60, roles: [service]}}"
        )
    brokers = [node for node in plan.topology.nodes if node.roles == ("broker",)]
    ids = sorted(node.id for node in brokers if node.is_original)
    if "brokers" in file.model_fields_set and ids != sorted(file.brokers.ids) and not _is_first_alone(file, ids):
        fixed = ", ".join(map(str, file.brokers.ids))
        raise UsageError(
            f"the brokers of the plan have the ids {', '.join(map(str, ids)) or 'of no node'}, and those of "
            f"{file.name} are {fixed} (`brokers` of its target file): write these into the topology"
        )


def _is_first_alone(file: TargetFile, ids: Sequence[int]) -> bool:
    """Return whether they are the id of the first broker, in a cluster that is started with as many as the plan has."""
    return file.running is None and list(ids) == [file.brokers.ids[0]]


def check_design(file: TargetFile, plan: Plan) -> None:
    """Raise UsageError if the plan uses something that the design of this target does not have."""
    if file.running is not None and (reason := refusal(plan, file.running)) is not None:
        raise UsageError(f"{file.name} runs elsewhere: {reason}")
    if plan.topology.controller is not None and not file.dialect.has_controllers:
        raise UsageError(
            f"the topology names {plan.topology.controller} as first controller, but {file.name} has no controllers"
        )
    for kind in workload_kinds(plan):
        if (reason := file.without_workload(kind, plan.target.partition(":")[2] or file.version)) is not None:
            raise UsageError(f"{reason}, which the workload of the plan needs")
    for place, step in enumerate(plan.steps):
        _check_part(file, f"the step {plan.step_name(place)}", step)
        if isinstance(step, InjectStep) and step.when is not None:
            _check_part(file, f"`when` of the step {plan.step_name(place)}", step.when)
    if reason := file.without_request(needed_requests(plan, topics_by_use=file.topics == "by use")):
        raise UsageError(reason)
    if plan.prepared_topics and file.dialect is not Dialect.LEADER_DRIVEN:
        topics = ", ".join(sorted(plan.prepared_topics))
        raise UsageError(f"{file.name} creates topics by request only: drop `prepared` of {topics}")


def _check_part(file: TargetFile, where: str, part: Step | When) -> None:
    if not file.dialect.has_controllers and (what := _about_controllers(part)):
        state = "its state is in `zookeeper`" if file.dialect.uses_zookeeper else "none is visible"
        raise UsageError(f"{where} has {what}, but {file.name} has no controllers: {state}")
    if not file.dialect.shows_decisions and (what := _about_decisions(part)):
        raise UsageError(f"{where} needs {what}, but {file.name} shows only what clients see (`dialect: clients`)")
    if file.log_files == "none" and isinstance(part, AwaitStep) and part.reads_log_files:
        raise UsageError(f"{where} reads log files, and {file.name} has none as Apache Kafka's (`log_files: none`)")
    if isinstance(part, InjectStep) and (reason := file.promises.unpromised(part.fault)):
        raise UsageError(f"{where} breaks what {file.name} does not promise to keep: {reason}")
    if isinstance(part, Shutdown) and (reason := file.promises.unpromised("terminate")):
        raise UsageError(f"{where} ends what {file.name} does not promise to keep: {reason}")
    if isinstance(part, ProbeStep) and part.only_in is not None and file.dialect is not part.only_in[0]:
        raise UsageError(f"{where} {part.only_in[1].format(target=file.name)}")
    if not file.dialect.uses_zookeeper and _reads_zookeeper(part):
        raise UsageError(f"{where} needs ZooKeeper, but {file.name} runs without it")


def _reads_zookeeper(step: Step | When) -> bool:
    return isinstance(step, ZnodeStep) or (isinstance(step, AwaitStep) and step.uses_zookeeper)


def _about_decisions(step: Step | When) -> str | None:
    """Return the part of a step that only a visible control plane, or the log files of Kafka, can have."""
    if isinstance(step, Bind) and step.value is not None and not step.value.startswith("leader-epoch"):
        return f"the value `{step.value}`"
    if isinstance(step, AwaitStep) and step.reads_decisions:
        return f"the condition `{step.condition}`"
    return None


def _about_controllers(step: Step | When) -> str | None:
    """Return the part of a step that needs a controller, as the plan has it; None if there is none."""
    if isinstance(step, Bind) and step.value == "controller-epoch":
        return "`controller-epoch`"
    if isinstance(step, AwaitStep | ProbeStep) and step.needs_controller is not None:
        return step.needs_controller
    return next(
        (f"`{ref}`" for _, ref in refs(step) if ref in ("controllers", "active-controller", "standby-controller")), None
    )
