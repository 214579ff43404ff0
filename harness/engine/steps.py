"""What each kind of step does. A step that returns was done; StepError and FaultError end the story."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from faults.processes.restored import back_up
from harness.clients.raw import NoAnswer
from harness.engine.conditions import found, holds, looked_at_every, predicate, seen
from harness.engine.context import Context, Missed, StepError
from harness.engine.injecting import inject
from harness.engine.probes.prober import Prober
from harness.engine.probes.produce import send_record
from harness.engine.znodes import change_znode
from harness.network.layout import Listener
from harness.plan.base import After, Level
from harness.plan.conditions import Await, AwaitStep
from harness.plan.injects import InjectStep
from harness.plan.steps import (
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

DONE: Mapping[str, Any] = {"outcome": "done"}
READY_WITHIN = 60.0
"""Seconds for a node that a step starts to answer."""
ENDED_WITHIN = 60.0
"""Seconds for a node that is rolled to hand over what it leads and end."""


def perform(step: Step, name: str, context: Context, prober: Prober) -> Mapping[str, Any]:
    """Do the step; what the journal says at its end. `outcome` is `done`, or `missed` for a condition that stayed
    false."""
    match step:
        case Start():
            return _start(step, context)
        case Shutdown():
            return _shut_down(step, context)
        case Roll():
            return _roll(step, context)
        case Backup():
            return _back_up(step, context)
        case ZnodeStep():
            return {**DONE, "path": change_znode(step, context.cluster.layout.ensemble())}
        case Bind():
            return _bind(step, name, context)
        case Workload(action="start"):
            context.workload.start(step.only or None)
        case Workload():
            context.workload.stop(step.only or None)
        case Produce():
            return _produce(step, name, context)
        case Heal():
            context.keeper.heal(step.fault)
        case HealAll():
            if failures := context.keeper.heal_all():
                raise StepError("; ".join(failures))
        case Hold():
            context.wait(lambda: False, context.moment(After(event=step.after, plus_ms=step.ms)))
        case InjectStep():
            return inject(step, name, context)
        case AwaitStep():
            return _await(step, name, context)
        case _:
            prober.run(step, name)
    return DONE


def _start(step: Start, context: Context) -> Mapping[str, Any]:
    nodes = context.nodes(step.nodes)
    for node in nodes:
        context.cluster.processes.start(node)
    if step.until == "ready":
        for node in nodes:
            context.cluster.processes.await_ready(node, READY_WITHIN)
    return {**DONE, "nodes": list(nodes)}


def _shut_down(step: Shutdown, context: Context) -> Mapping[str, Any]:
    nodes = context.nodes(step.nodes)
    deadline = time.monotonic() + step.within_ms / 1000
    for node in nodes:
        context.cluster.processes.shut_down(node)
    if step.until == "ended":
        for node in nodes:
            if not context.cluster.processes.await_end(node, max(0.0, deadline - time.monotonic())):
                raise Missed(f"{node} did not end within {step.within_ms} ms of SIGTERM")
    return {**DONE, "nodes": list(nodes)}


def _roll(step: Roll, context: Context) -> Mapping[str, Any]:
    node, processes = context.node(step.node), context.cluster.processes
    if step.how == "kill":
        processes.kill(node)
    else:
        processes.shut_down(node)
        if not processes.await_end(node, ENDED_WITHIN):
            raise StepError(f"{node} did not end within {ENDED_WITHIN:g} s of SIGTERM, so it could not be rolled")
    processes.set_level(node, step.level)
    processes.start(node)
    processes.await_ready(node, READY_WITHIN)
    return {**DONE, "node": node, "level": step.level}


def _back_up(step: Backup, context: Context) -> Mapping[str, Any]:
    node = context.node(step.node)
    return {**DONE, "node": node, "copy": back_up(context.cluster, node, step.as_).as_json()}


def _bind(step: Bind, name: str, context: Context) -> Mapping[str, Any]:
    context.bound[name] = context.node(step.node) if step.node is not None else _value(step.value or "", context)
    return {**DONE, "bound": context.bound[name]}


def _value(reference: str, context: Context) -> int:
    what, _, of = reference.partition(":")
    match what:
        case "leader-epoch":
            return context.patiently(lambda: context.partition_entry(of).leader_epoch)
        case "isr-version":
            return context.patiently(lambda: context.partition_entry(of).version)
        case "broker-epoch":
            node = context.node(of)
            return context.patiently(lambda: context.broker_entry(node).epoch)
        case _:
            return context.patiently(lambda: context.now.controllers[context.active_controller()].epoch)


def _await(step: Await, name: str, context: Context) -> Mapping[str, Any]:
    """Within so long of the step's begin, or of the instant that `after` names if that is still to come."""
    if step.after is not None:
        context.wait(lambda: False, context.moment(step.after))
    condition = predicate(step, name, context)
    if context.wait(lambda: holds(condition), time.monotonic() + step.within_ms / 1000, looked_at_every(step)):
        return {**DONE, **found(condition)}
    sentence = f"`{step.condition}` did not come true within {step.within_ms} ms: {seen(step, context)}"
    if step.expect is None or step.expect.level is Level.MUST:
        raise Missed(sentence + (f"; found: {dict(found(condition))}" if found(condition) else ""))
    return {"outcome": "missed", "sentence": sentence, **found(condition)}


def _produce(step: Produce, name: str, context: Context) -> Mapping[str, Any]:
    """To a named node one by one; each record is journalled by itself, so the step has no outcome of its own."""
    if step.node is None:
        result = context.workload.burst(
            name,
            step.topic,
            step.partition,
            step.records,
            str(step.acks),
            step.idempotent,
            step.timeout_ms / 1000,
        )
        return {**DONE, "sent": result.sent, "acknowledged": result.acknowledged}
    node = context.node(step.node)
    acknowledged = 0
    for number in range(step.records):
        try:
            with context.connect(node, Listener.CLIENT, step.timeout_ms / 1000) as connection:
                answer = send_record(
                    connection,
                    context.journal,
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
