"""How many partitions one request may make: whoever decides about millions at a time does nothing else meanwhile."""

from __future__ import annotations

from cluster_impl.wire import messages as m

MOST_PARTITIONS = 10_000
"""New ones in one request, over all of its topics, as Kafka's own KRaft controller has it."""


def problem_with_number(request: m.CreateTopicsRequest, default: int) -> str | None:
    """`default`: partitions of a topic for which the request names no number. What makes no sense counts as none."""
    asked_for = sum(_partitions_of(topic, default) for topic in request.topics)
    if asked_for <= MOST_PARTITIONS:
        return None
    return f"One request can make {MOST_PARTITIONS} partitions, and this one asks for {asked_for}."


def _partitions_of(topic: m.CreateTopicsRequest.CreatableTopic, default: int) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return default if topic.num_partitions == -1 else max(0, topic.num_partitions)
