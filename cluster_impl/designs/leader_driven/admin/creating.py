"""Planning a topic, creating it, and giving it partitions ("Create topic")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from fencepost.cluster_impl.api.topic_names import collision
from fencepost.cluster_impl.coordination.steps import Create, Done, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.adding import add_partitions
from fencepost.cluster_impl.designs.leader_driven.admin.cleaning import (
    clean_failed_topic_creation_attempts,
    clean_partitions,
    left_by_failed_attempts,
)
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Command, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import live_brokers, read_topic, stat_of, topic_names
from fencepost.cluster_impl.designs.shared.placement import place_as_kafka
from fencepost.cluster_impl.designs.shared.topic_requests import (
    MAX_PARTITIONS,
    RequestError,
    check_counts,
    check_name,
    check_settings,
    topic_exists,
    unequal_replication,
    unknown_topic,
)
from fencepost.cluster_impl.wire.errors import Error


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create. `assignment` lists the replicas of each partition; without it, `partitions` get `factor`
    replicas each."""

    name: str
    partitions: int = 1
    factor: int = 1
    assignment: Sequence[Sequence[int]] | None = None
    config: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """The result of a creation: the replicas of each partition, and the topic's own settings."""

    topic_id: UUID
    layout: Sequence[tuple[int, ...]]
    config: Mapping[str, str]


def check_topic(new: NewTopic) -> Steps[list[tuple[int, ...]]]:
    """Return the replicas of each partition of a topic with a legal name. Raises RequestError. Writes nothing."""
    others = yield from topic_names()
    same = collision(new.name, [other for other in others if other != new.name])
    if same:
        raise RequestError(Error.INVALID_TOPIC_EXCEPTION, same)
    check_settings(new.config.items())
    live = yield from live_brokers()
    if new.assignment is not None:
        return checked_layout(new.assignment, live, factor=None)
    check_counts(new.partitions, new.factor, len(live), "live")
    # The start depends on the name, so that topics of one partition spread over the brokers without a shared counter.
    return place_as_kafka(live, new.partitions, new.factor, start=sum(new.name.encode()))


def check_absent(name: str) -> Steps[None]:
    """Raise RequestError if the topic exists, or if no topic can have this name. Writes nothing."""
    check_name(name)
    topic = yield from read_topic(name)
    if topic.live:
        raise topic_exists(name)


def create_topic(command: Command, new: NewTopic) -> Procedure[CreatedTopic]:
    """Create the topic and its partitions. Raises RequestError; the next attempt cleans up after a failed one."""
    check_name(new.name)
    # First of all: a client that repeats its request has to learn that the topic is there, whatever else is wrong.
    left = yield from left_by_failed_attempts(new.name)
    layout = yield from check_topic(new)
    yield from clean_failed_topic_creation_attempts(command, left)
    config = {name: value or "" for name, value in new.config.items()}
    [outcome] = yield [Create(znodes.topic(new.name), znodes.write_topic(znodes.TopicZnode(config)))]
    stat = yield from stat_of(znodes.topic(new.name))
    if not isinstance(outcome, Done) or stat is None:
        raise RequestError(Error.TOPIC_ALREADY_EXISTS, f"{znodes.topic(new.name)} exists and holds no partition.")
    yield from add_partitions(command, new.name, dict(enumerate(layout)))
    return CreatedTopic(znodes.topic_id(new.name, stat.czxid), layout, config)


@dataclass(frozen=True, slots=True)
class MorePartitions:
    """Partitions to add. `count` is the total afterwards; `assignment` lists the replicas of each new partition."""

    topic: str
    count: int
    assignment: Sequence[Sequence[int]] | None = None


def check_more(more: MorePartitions) -> Steps[dict[int, tuple[int, ...]]]:
    """Return the replicas of each new partition by index. Raises RequestError. Writes nothing."""
    check_name(more.topic)
    topic = yield from read_topic(more.topic)
    if topic.topic_id is None or not topic.live:
        raise unknown_topic(more.topic)
    if any(partition.is_being_deleted for partition in topic.live.values()):
        raise RequestError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {more.topic} is being deleted.")
    present = len(topic.live)
    if more.count <= present:
        message = f"Topic {more.topic} has {present} partitions already; {more.count} is not more than that."
        raise RequestError(Error.INVALID_PARTITIONS, message)
    if more.count - present > MAX_PARTITIONS:
        message = f"One request can add {MAX_PARTITIONS} partitions; {more.count - present} would be new."
        raise RequestError(Error.POLICY_VIOLATION, message)
    new = [index for index in range(more.count) if index not in topic.live]
    live = yield from live_brokers()
    factor = len(topic.live[min(topic.live)].replicas or ())
    if more.assignment is not None:
        if len(more.assignment) != len(new):
            message = f"{len(new)} partitions are new, but the assignment has {len(more.assignment)}."
            raise RequestError(Error.INVALID_REPLICA_ASSIGNMENT, message)
        return dict(zip(new, checked_layout(more.assignment, live, factor), strict=True))
    if factor > len(live):
        message = f"Replication factor {factor} of topic {more.topic} cannot be met: {len(live)} brokers are live."
        raise RequestError(Error.INVALID_REPLICATION_FACTOR, message)
    return dict(zip(new, place_as_kafka(live, len(new), factor, start=sum(more.topic.encode()) + new[0]), strict=True))


def create_partitions(command: Command, more: MorePartitions) -> Procedure[dict[int, tuple[int, ...]]]:
    """Create the new partitions and return their replicas by index. Raises RequestError."""
    layout = yield from check_more(more)
    topic = yield from read_topic(more.topic)
    unfinished = [partition for partition in topic.partitions.values() if partition.replicas is None]
    yield from clean_partitions(command, more.topic, unfinished)
    yield from add_partitions(command, more.topic, layout)
    return layout


def checked_layout(
    assignment: Sequence[Sequence[int]], live: Sequence[int], factor: int | None
) -> list[tuple[int, ...]]:
    """Return the assignment if every partition has the same number of different live brokers. Raises RequestError."""
    wanted = factor if factor is not None else len(assignment[0]) if assignment else 0
    for index, replicas in enumerate(assignment):
        if not replicas or len(set(replicas)) != len(replicas) or not set(replicas) <= set(live):
            message = f"Replicas {list(replicas)}, the {_ordinal(index)} ones named, must be different live brokers."
            raise RequestError(Error.INVALID_REPLICA_ASSIGNMENT, message)
        if len(replicas) != wanted:
            raise unequal_replication()
    return [tuple(replicas) for replicas in assignment]


def _ordinal(index: int) -> str:
    return {0: "first", 1: "second", 2: "third"}.get(index, f"{index + 1}th")
