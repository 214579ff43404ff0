"""The requests of clients that a plan cannot do without, by their names in Kafka's protocol.

A broker that lacks one of them is known before anything starts (`missing_requests` of its target file), or as soon as
it answers ApiVersions.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import ConsumerSpec, Plan, ProducerSpec
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.words import Word

COORDINATED = ("find_coordinator", "offset_commit", "offset_fetch")
CLASSIC = ("join_group", "sync_group", "heartbeat")
TRANSACTIONAL = ("find_coordinator", "init_producer_id", "add_partitions_to_txn", "end_txn")
WITH_OFFSETS = ("add_offsets_to_txn", "txn_offset_commit")


def needed_requests(plan: Plan, *, topics_by_use: bool = False) -> Iterator[tuple[str, str]]:
    """Yield (request, what needs it), one pair for each part of the plan that sends it."""
    for topic in plan.topics:
        if not (topic.prepared or topics_by_use):
            yield "create_topics", f"the topic {topic.name}"
    for producer in plan.workload.producers:
        yield from ((request, f"the producer {producer.name}") for request in _of_producer(producer))
    for consumer in plan.workload.consumers:
        yield from ((request, f"the consumer {consumer.name}") for request in _of_consumer(consumer))
    for place, step in enumerate(plan.steps):
        yield from ((request, f"the step {plan.step_name(place)}") for request in requests_of(step))


def requests_of(step: Step) -> tuple[str, ...]:
    """Return the requests that a step sends; the condition that a fault waits for is part of its step."""
    word = step.when if isinstance(step, InjectStep) else step
    return word.requests if isinstance(word, Word) else ()


def _of_producer(producer: ProducerSpec) -> Iterator[str]:
    yield "produce"
    if producer.transactions is not None:
        yield from TRANSACTIONAL
        yield from WITH_OFFSETS if producer.transactions.group is not None else ()
    elif producer.idempotent:
        yield "init_producer_id"


def _of_consumer(consumer: ConsumerSpec) -> Iterator[str]:
    yield from ("fetch", "list_offsets")
    if consumer.membership is not None:
        yield from COORDINATED
        yield from CLASSIC if consumer.membership.protocol == "classic" else ("consumer_group_heartbeat",)
