"""Checks of the clients of the workload."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.harness.plan.checks.problem import Problem, twice, unknown
from fencepost.harness.plan.model import ConsumerSpec, Plan, ProducerSpec
from fencepost.harness.plan.requests.produce import ProduceProbe
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.plan.topic_changes import deleted_topics

STRATEGIES = {"classic": ("range", "roundrobin", "cooperative-sticky"), "consumer": ("range", "uniform")}
"""The strategies by which partitions are assigned, by the group's protocol: its members assign, or the coordinator."""


def client_problems(plan: Plan) -> Iterator[Problem]:
    topics, sites = {topic.name for topic in plan.topics}, set(plan.topology.sites)
    prepared = plan.prepared_topics
    deleted = deleted_topics(plan)
    kinds: tuple[tuple[str, tuple[ProducerSpec | ConsumerSpec, ...]], ...] = (
        ("producers", plan.workload.producers),
        ("consumers", plan.workload.consumers),
    )
    for kind, specs in kinds:
        yield from twice(("workload", kind), kind[:-1], "name", [spec.name for spec in specs])
        for place, spec in enumerate(specs):
            if spec.topic not in topics:
                yield Problem(("workload", kind, place, "topic"), unknown("topic", spec.topic, topics))
            if spec.topic in prepared:
                message = f"{spec.name} uses {spec.topic}, which is `prepared`: clients cannot use such a topic"
                yield Problem(("workload", kind, place, "topic"), message)
            if isinstance(spec, ProducerSpec) and spec.acks == "all" and spec.topic in deleted:
                message = f"{spec.name} has `acks: all` on {spec.topic}, which {deleted[spec.topic]} deletes with "
                yield Problem(
                    ("workload", kind, place, "topic"), message + "all acknowledged records: give it `acks: 1`"
                )
            if isinstance(spec, ProducerSpec) and spec.transactions is not None and spec.acks != "all":
                message = f"{spec.name} sends in transactions, which need `acks: all`: drop `acks`"
                yield Problem(("workload", kind, place, "acks"), message)
            if spec.site not in sites:
                yield Problem(("workload", kind, place, "site"), unknown("site", spec.site, sites))


def membership_problems(plan: Plan) -> Iterator[Problem]:
    """Check that the members of a group agree on how partitions are assigned: else it would refuse some of them."""
    strategies: dict[str, str] = {}
    for place, spec in enumerate(plan.workload.consumers):
        if (membership := spec.membership) is None:
            continue
        where = ("workload", "consumers", place, "membership", "strategy")
        known = STRATEGIES[membership.protocol]
        if membership.strategy not in known:
            message = f"groups of the {membership.protocol} protocol do not assign by {membership.strategy}"
            yield Problem(where, f"{message}: take {' or '.join(known)}")
        agreed = strategies.setdefault(membership.group, membership.strategy)
        if membership.strategy != agreed:
            message = f"{spec.name} assigns by {membership.strategy}, earlier members of {membership.group} by {agreed}"
            yield Problem(where, f"{message}: give all members one strategy")


def clients_of(plan: Plan) -> set[str]:
    """Return the names of producers and consumers."""
    return {spec.name for spec in plan.workload.producers} | {spec.name for spec in plan.workload.consumers}


def senders_of(plan: Plan) -> set[str]:
    """Return the names of producers, and of steps that send records."""
    steps = {plan.step_name(place) for place, step in enumerate(plan.steps) if isinstance(step, Produce | ProduceProbe)}
    return steps | {spec.name for spec in plan.workload.producers}
