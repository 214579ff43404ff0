"""Checks of names in steps: nodes, roles, partitions, and instants of earlier steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fencepost.faults.parameters import PlanModel, Refers, key_of, references
from fencepost.harness.network.layout import MAIN_SITE, PROBE_SITE, SITE_PREFIX
from fencepost.harness.plan.checks.clients import clients_of, senders_of
from fencepost.harness.plan.checks.problem import Problem, not_yet, unknown
from fencepost.harness.plan.internal_topics import COORDINATORS, GROUP_COORDINATOR, INTERNAL_TOPICS
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.topic_changes import changed_topics

ROLES = ("controllers", "brokers", "active-controller", "standby-controller", "zookeeper", "zookeeper-leader")
OF_PARTITION = ("leader", "followers")


def step_references(at: tuple[str | int, ...], step: PlanModel, plan: Plan, bound: set[str]) -> Iterator[Problem]:
    """Check everything of a plan that a step refers to, by the marks of its fields."""
    for field, marks in references(type(step)).items():
        value, here = getattr(step, field), (*at, key_of(field))
        if value is None or (value == "none" and Refers.NO_NODE in marks):
            continue
        for ref in (value,) if isinstance(value, str | int) else value:
            yield from _reference(here, ref, marks, plan, bound)


def _reference(
    at: tuple[str | int, ...], ref: str | int, marks: frozenset[Refers], plan: Plan, bound: set[str]
) -> Iterator[Problem]:
    for mark in marks:
        match mark, ref:
            case (Refers.NODE, str()):
                yield from _ref(at, ref, plan, bound)
            case (Refers.VALUE, str()) if ref.startswith("$"):
                yield from _ref(at, ref, plan, bound)
            case (Refers.PARTITION, str()):
                yield from partition_problems(at, ref, plan)
            case (Refers.PRODUCER | Refers.CONSUMER | Refers.GROUP | Refers.CLIENT, str()):
                known = _clients(mark, plan)
                if ref not in known:
                    yield Problem(at, unknown(mark.value, ref, known))


def _clients(mark: Refers, plan: Plan) -> Collection[str]:
    """Return what a reference to clients may name."""
    if mark is Refers.PRODUCER:
        return senders_of(plan)
    if mark is Refers.CLIENT:
        return clients_of(plan)
    return {spec.name for spec in plan.workload.consumers} if mark is Refers.CONSUMER else plan.groups


def _ref(at: tuple[str | int, ...], ref: str, plan: Plan, bound: set[str]) -> Iterator[Problem]:
    names = {node.name for node in plan.topology.nodes}
    if ref in names or ref in ROLES:
        return
    if ref.startswith(SITE_PREFIX) and at[-1] in ("from", "nodes"):
        yield from _site(at, ref, plan)
        return
    if ref.startswith("$"):
        if ref[1:] not in bound:
            yield Problem(at, not_yet("bind", ref[1:], bound))
        return
    role, colon, partition = ref.partition(":")
    if colon and role in OF_PARTITION:
        yield from partition_problems(at, partition, plan)
        return
    if colon and role in COORDINATORS:
        known = plan.groups if role == GROUP_COORDINATOR else plan.transactional_ids
        if partition not in known:
            what = "group" if role == GROUP_COORDINATOR else "transactional id"
            message = unknown(f"{what} of the workload", partition, known)
            yield Problem(at, f"{message}; `{role}:` means the coordinator of a {what} that a client of the plan has")
        return
    yield Problem(at, unknown("node", ref, names))


def _site(at: tuple[str | int, ...], ref: str, plan: Plan) -> Iterator[Problem]:
    """Check a client site as the source of links. Faults cannot use the probe site, through which the harness looks.

    Nor can they use another site than main: a broker advertises one address, that of main, so that all clients come by
    it once they have asked for metadata, and the fault would meet none.
    """
    known = {f"{SITE_PREFIX}{site}" for site in (MAIN_SITE, *plan.topology.sites) if site != PROBE_SITE}
    if ref not in known:
        yield Problem(at, unknown("client site", ref, known))
    elif ref != f"{SITE_PREFIX}{MAIN_SITE}":
        advertised = f"brokers advertise the addresses of `{SITE_PREFIX}{MAIN_SITE}`: break the links of that"
        yield Problem(at, f"the links of `{ref}` carry no client, since {advertised}")


def partition_problems(at: tuple[str | int, ...], partition: str, plan: Plan) -> Iterator[Problem]:
    known = {f"{topic.name}-{index}" for topic in plan.topics for index in range(len(topic.assignments))}
    if partition not in known and partition.rpartition("-")[0] not in (*INTERNAL_TOPICS, *changed_topics(plan)):
        yield Problem(at, unknown("partition", partition, known))


def instant_problems(at: tuple[str | int, ...], instant: str, names: set[str], faults: set[str]) -> Iterator[Problem]:
    name, _, phase = instant.rpartition(".")
    if name not in names:
        yield Problem(at, not_yet("step", name, names))
    elif phase in ("injected", "proven", "healed") and name not in faults:
        yield Problem(at, f"`{name}` is not a fault, so `{instant}` never comes: use `{name}.begun` or `{name}.ended`")
