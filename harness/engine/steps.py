"""Perform each kind of step. A step that returns is done; StepError and FaultError end the scenario."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from fencepost.faults.capabilities import Processes
from fencepost.faults.processes.restored import back_up
from fencepost.harness.clients.raw import NoAnswer
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.conditions import await_condition
from fencepost.harness.engine.context import Clients, Context
from fencepost.harness.engine.errors import StepError, StepTimeout
from fencepost.harness.engine.injecting import inject
from fencepost.harness.engine.probes.prober import Prober
from fencepost.harness.engine.references import References
from fencepost.harness.engine.releases import await_release, version_of
from fencepost.harness.engine.znodes import change_znode
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.base import After, Level
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.requests.produce import send_record
from fencepost.harness.plan.steps import (
    Backup,
    Bind,
    Heal,
    HealAll,
    Hold,
    Produce,
    Roll,
    Shutdown,
    Start,
    Step,
    Workload,
    ZnodeStep,
)
from fencepost.results.records.journal import JournalWriter

DONE: Mapping[str, Any] = {"outcome": "done"}
READY_WITHIN = 60.0
"""Seconds for a node that a step starts to answer."""
ENDED_WITHIN = 60.0
"""Seconds for a node that is rolled to hand over what it leads and end."""


def perform(step: Step, name: str, context: Context, prober: Prober) -> Mapping[str, Any]:
    """Perform the step, and return the data of its end for the journal.

    `outcome` is `done`, or `missed` for a condition that stayed false.
    """
    references, cluster, workload = context.references, context.cluster, context.clients.workload
    match step:
        case Start():
            return _start(step, references, cluster.processes)
        case Shutdown():
            return _shut_down(step, references, cluster.processes)
        case Roll():
            return _roll(step, references, cluster)
        case Backup():
            return _back_up(step, references, cluster)
        case ZnodeStep():
            return _change_znode(step, cluster)
        case Bind():
            return _bind(step, name, references)
        case Workload(action="start"):
            workload.start(step.only or None)
        case Workload():
            workload.stop(step.only or None, context.clock.deadline)
        case Produce():
            return _produce(step, name, references, context.clients, context.journal)
        case Heal():
            context.active_faults.heal(step.fault)
        case HealAll():
            if failures := context.active_faults.heal_all():
                raise StepError("; ".join(failures))
        case Hold():
            context.clock.sleep_until(context.clock.moment(After(event=step.after, plus_ms=step.ms)))
        case InjectStep():
            return inject(step, name, context)
        case AwaitStep():
            return _await(step, name, context)
        case _:
            prober.run(step, name)
    return DONE


def _start(step: Start, references: References, processes: Processes) -> Mapping[str, Any]:
    nodes = references.nodes(step.nodes)
    for node in nodes:
        processes.start(node)
    if step.until == "ready":
        for node in nodes:
            processes.await_ready(node, READY_WITHIN)
    return {**DONE, "nodes": list(nodes)}


def _shut_down(step: Shutdown, references: References, processes: Processes) -> Mapping[str, Any]:
    nodes = references.nodes(step.nodes)
    deadline = time.monotonic() + step.within_ms / 1000
    for node in nodes:
        processes.shut_down(node)
    if step.until == "ended":
        for node in nodes:
            if not processes.await_end(node, max(0.0, deadline - time.monotonic())):
                raise StepTimeout(f"{node} did not end within {step.within_ms} ms of SIGTERM")
    return {**DONE, "nodes": list(nodes)}


def _roll(step: Roll, references: References, cluster: Cluster) -> Mapping[str, Any]:
    node, processes = references.node(step.node), cluster.processes
    if step.how == "kill":
        processes.kill(node)
    else:
        processes.shut_down(node)
        if not processes.await_end(node, ENDED_WITHIN):
            raise StepError(f"{node} did not end within {ENDED_WITHIN:g} s of SIGTERM, so it could not be rolled")
    processes.set_version(node, step.release, step.level)
    processes.start(node)
    processes.await_ready(node, READY_WITHIN)
    done: dict[str, Any] = {**DONE, "node": node}
    if step.level is not None:
        done["level"] = step.level
    if step.release is not None:
        version = done["release"] = version_of(cluster.target, step.release)
        await_release(cluster, node, version, READY_WITHIN)
    return done


def _back_up(step: Backup, references: References, cluster: Cluster) -> Mapping[str, Any]:
    node = references.node(step.node)
    return {**DONE, "node": node, "copy": back_up(cluster, node, step.as_).as_json()}


def _change_znode(step: ZnodeStep, cluster: Cluster) -> Mapping[str, Any]:
    try:
        return {**DONE, "path": change_znode(step, cluster.layout.ensemble())}
    except StepError as error:
        if not step.may_fail:
            raise
        return {**DONE, "path": step.path, "message": str(error)}


def _bind(step: Bind, name: str, references: References) -> Mapping[str, Any]:
    bound = references.node(step.node) if step.node is not None else _value(step.value or "", references)
    references.bound[name] = bound
    return {**DONE, "bound": bound}


def _value(reference: str, references: References) -> int:
    what, _, of = reference.partition(":")
    match what:
        case "leader-epoch":
            return references.leader_epoch("current", of)
        case "isr-version":
            return references.isr_version("current", of)
        case "broker-epoch":
            return references.broker_epoch("current", references.node(of))
        case _:
            return references.controller_epoch("current")


def _await(step: AwaitStep, name: str, context: Context) -> Mapping[str, Any]:
    wait = await_condition(step, name, context)
    if wait.came:
        return {**DONE, **wait.found}
    message = f"`{step.condition}` did not become true within {step.within_ms} ms: {wait.seen}"
    if step.expect is None or step.expect.level is Level.MUST:
        raise StepTimeout(message + (f"; measured: {dict(wait.found)}" if wait.found else ""))
    return {"outcome": "missed", "message": message, **wait.found}


def _produce(
    step: Produce, name: str, references: References, clients: Clients, journal: JournalWriter
) -> Mapping[str, Any]:
    """Produce through the workload's client, or one by one to a named node.

    Each record is journalled by itself, so the step has no outcome of its own.
    """
    if step.node is None:
        result = clients.workload.burst(
            name,
            step.topic,
            step.partition,
            step.records,
            str(step.acks),
            step.idempotent,
            step.timeout_ms / 1000,
        )
        return {**DONE, "sent": result.sent, "acknowledged": result.acknowledged}
    node = references.node(step.node)
    acknowledged = 0
    for number in range(step.records):
        try:
            with clients.connect(node, Listener.CLIENT, step.timeout_ms / 1000) as connection:
                answer = send_record(
                    connection,
                    journal,
                    process=name,
                    number=number,
                    topic=step.topic,
                    partition=step.partition,
                    acks=step.acks,
                    timeout_ms=step.timeout_ms,
                )
                acknowledged += answer.outcome == "served"
        except NoAnswer:
            continue
    return {**DONE, "node": node, "sent": step.records, "acknowledged": acknowledged}
