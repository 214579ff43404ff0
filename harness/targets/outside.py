"""The parts of a plan that a cluster elsewhere takes: requests about topics and groups of the run, within bounds.

All else is refused by name before anything is sent: steps that need the files, the processes or the links of nodes, and
requests that may change what was there before the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fencepost.harness.plan.base import LogLine
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.prefixed import names_in_requests, new_prefix, prefix_of, prefixed
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.requests.fetch import FetchProbe
from fencepost.harness.plan.requests.list_offsets import ListOffsetsProbe
from fencepost.harness.plan.requests.metadata import MetadataProbe
from fencepost.harness.plan.requests.produce import ProduceProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.heal_all import HealAll
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.plan.steps.workload import Workload
from fencepost.harness.targets.running import Bounds, Running

FAULTS = frozenset({"kill", "terminate", "pause", "disconnect"})
"""The faults for which the owner has commands."""
_PROBES = (
    *(CreateTopicProbe, CreatePartitionsProbe, DeleteTopicProbe),
    *(FetchProbe, ListOffsetsProbe, MetadataProbe, ProduceProbe),
)
_OF_TOPICS = frozenset({"incremental_alter_configs", "describe_configs"})
"""Requests about a topic, or about something else."""
_TOPIC = 2
_REQUESTS = _OF_TOPICS | {
    *("metadata", "find_coordinator", "list_offsets", "fetch", "produce", "offset_for_leader_epoch"),
    *("create_topics", "delete_topics", "create_partitions", "delete_records", "describe_topic_partitions"),
    *("join_group", "sync_group", "heartbeat", "leave_group", "offset_commit", "offset_fetch", "offset_delete"),
    *("describe_groups", "delete_groups", "consumer_group_heartbeat", "consumer_group_describe"),
    *("init_producer_id", "add_partitions_to_txn", "add_offsets_to_txn", "end_txn", "txn_offset_commit"),
}
_STEPS = (Bind, Heal, HealAll, Hold, Produce, Workload)
_CONDITIONS = frozenset(
    {
        *(
            "administrator-served",
            "assignment-is",
            "broker-active",
            "broker-fenced",
            "converged",
            "isr-is",
            "isr-shrunk",
        ),
        *("leader-epoch-above", "leader", "replica-offline", "workload-acks", "workload-reads"),
    }
)
"""Those that rest on what brokers answer about the topics of the run."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")


def bound(plan: Plan) -> Plan:
    """Return the plan with names of its own; one that has them keeps them."""
    return plan if prefix_of(plan) else prefixed(plan, new_prefix())


def refusal(plan: Plan, running: Running) -> str | None:
    """Return why a plan cannot be run on a cluster that runs elsewhere; None if it can."""
    return next(_refusals(bound(plan), running.bounds), None)


def _refusals(plan: Plan, bounds: Bounds) -> Iterator[str]:
    prefix = prefix_of(plan)
    if not plan.topics:
        yield "the plan has no topic, so that nothing in it has the prefix of the run"
    if plan.security != "plaintext":
        yield "the plan has a security of its own, and `running: security` says how the cluster is reached"
    if own := next((node.name for node in plan.topology.nodes if node.settings or node.level or node.rack), None):
        yield f"{own} has settings of its own, and its configuration is not reached"
    if plan.settings is not None or plan.level is not None:
        yield "the plan has settings or a level of nodes, whose configuration is not reached"
    for place, step in enumerate(plan.steps):
        for part in (step, step.when) if isinstance(step, InjectStep) and step.when is not None else (step,):
            if (reason := _unreached(part)) is not None:
                yield f"the step {plan.step_name(place)} {reason}"
    for step_name, name in names_in_requests(plan):
        if not name.startswith(prefix) or not _NAME.fullmatch(name):
            yield f"the step {step_name} names something that cannot have the prefix of the run"
    yield from _beyond(plan, bounds)


def _unreached(part: Step | LogLine) -> str | None:
    """Return what a step does that is not known to be possible from outside."""
    match part:
        case InjectStep() if part.fault not in FAULTS:
            return f"injects `{part.fault}`, which needs the nodes: only {', '.join(sorted(FAULTS))} have commands"
        case AwaitStep() if part.condition not in _CONDITIONS:
            return f"waits for `{part.condition}`, which is not seen from outside for topics of the run alone"
        case ApiProbe():
            return _unasked(part)
        case ProbeStep() if not isinstance(part, _PROBES):
            return f"sends `{part.request}`, which may change what was there before the run"
        case LogLine():
            return "waits for a line of a log, which is elsewhere"
        case InjectStep() | AwaitStep() | ProbeStep():
            return None
    return None if isinstance(part, _STEPS) else f"is `{part.do}`, which needs the files or the processes of nodes"


def _unasked(probe: ApiProbe) -> str | None:
    resources = probe.body.get("resources") or ()
    of_others = probe.api in _OF_TOPICS and any(each.get("resource_type") != _TOPIC for each in resources)
    if probe.api not in _REQUESTS or of_others:
        return f"sends `{probe.api}`, which may change what was there before the run"
    return None


def _beyond(plan: Plan, bounds: Bounds) -> Iterator[str]:
    """Yield what is more than the bounds of the target file let."""
    load = plan.workload.producers
    at_once = max((step.records for step in plan.steps if isinstance(step, Produce)), default=0)
    sizes = [*(each.size for each in load), *(step.size for step in plan.steps if isinstance(step, Produce))]
    for asked, key in (
        (sum(each.rate for each in load), "records_per_second"),
        (max(sizes, default=0), "record_bytes"),
        (at_once, "records_at_once"),
        (sum(len(topic.assignments) for topic in plan.topics), "partitions"),
    ):
        if asked > (most := getattr(bounds, key)):
            yield f"the plan asks for {asked:g} {key}, and `running: bounds` of the target file lets {most:g}"
