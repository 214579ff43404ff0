"""A topic is planned, made, and given partitions ("Create topic")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from cluster_impl.coordination.steps import Create, Done, Steps
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.adding import add_partitions
from cluster_impl.designs.leader_driven.admin.cleaning import clean_failed_topic_creation_attempts, clean_partitions
from cluster_impl.designs.leader_driven.admin.naming import check_name
from cluster_impl.designs.leader_driven.admin.reading import live_brokers, read_topic, stat_of, topic_names
from cluster_impl.designs.leader_driven.admin.seam import Command, Failed, Procedure
from cluster_impl.designs.placement import place
from cluster_impl.designs.topic_config import problem_with
from cluster_impl.designs.topic_name import collision
from cluster_impl.wire.errors import Error


@dataclass(frozen=True, slots=True)
class NewTopic:
    """`assignment` says the replicas of each partition; without it `partitions` are given `factor` replicas each."""

    name: str
    partitions: int = 1
    factor: int = 1
    assignment: Sequence[Sequence[int]] | None = None
    config: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    topic_id: UUID
    layout: Sequence[tuple[int, ...]]
    config: Mapping[str, str]


def check_topic(new: NewTopic) -> Steps[list[tuple[int, ...]]]:
    """The replicas of each partition, if the topic can be made. Raises Failed. Writes nothing."""
    check_name(new.name)
    others = yield from topic_names()
    same = collision(new.name, [other for other in others if other != new.name])
    if same:
        raise Failed(Error.INVALID_TOPIC_EXCEPTION, same)
    for name, value in new.config.items():
        problem = problem_with(name, value)
        if problem:
            raise Failed(Error.INVALID_CONFIG, problem)
    live = yield from live_brokers()
    if new.assignment is not None:
        return checked_layout(new.assignment, live, factor=None)
    if new.partitions < 1:
        raise Failed(Error.INVALID_PARTITIONS, f"A topic cannot have {new.partitions} partitions.")
    if not 1 <= new.factor <= len(live):
        sentence = f"Replication factor {new.factor} cannot be met: {len(live)} brokers are live."
        raise Failed(Error.INVALID_REPLICATION_FACTOR, sentence)
    # Topics of one partition each begin at different brokers, without a count that all commands would share.
    return place(live, new.partitions, new.factor, start=sum(new.name.encode()))


def check_absent(name: str) -> Steps[None]:
    """Raises Failed if the topic exists, and changes nothing."""
    topic = yield from read_topic(name)
    if topic.live:
        raise Failed(Error.TOPIC_ALREADY_EXISTS, f"Topic {name} already exists.")


def create_topic(command: Command, new: NewTopic) -> Procedure[Made]:
    """Raises Failed. What a failed attempt leaves is cleaned up by the next one."""
    layout = yield from check_topic(new)
    yield from clean_failed_topic_creation_attempts(command, new.name)
    config = {name: value or "" for name, value in new.config.items()}
    [outcome] = yield [Create(znodes.topic(new.name), znodes.write_topic(znodes.TopicInfo(config)))]
    stat = yield from stat_of(znodes.topic(new.name))
    if not isinstance(outcome, Done) or stat is None:
        raise Failed(Error.TOPIC_ALREADY_EXISTS, f"{znodes.topic(new.name)} exists, and holds no partition.")
    yield from add_partitions(command, new.name, dict(enumerate(layout)))
    return Made(znodes.topic_id(new.name, stat.czxid), layout, config)


@dataclass(frozen=True, slots=True)
class MorePartitions:
    """`count` is that of all partitions, in the end; `assignment` says the replicas of each new one."""

    topic: str
    count: int
    assignment: Sequence[Sequence[int]] | None = None


def check_more(more: MorePartitions) -> Steps[dict[int, tuple[int, ...]]]:
    """The replicas of each new partition, by index, if they can be made. Raises Failed. Writes nothing."""
    check_name(more.topic)
    topic = yield from read_topic(more.topic)
    if topic.topic_id is None or not topic.live:
        raise Failed(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {more.topic}.")
    if any(each.is_being_deleted for each in topic.live.values()):
        raise Failed(Error.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {more.topic} is being deleted.")
    present = len(topic.live)
    if more.count <= present:
        sentence = f"Topic {more.topic} has {present} partitions already; {more.count} would not be more."
        raise Failed(Error.INVALID_PARTITIONS, sentence)
    new = [index for index in range(more.count) if index not in topic.live]
    live = yield from live_brokers()
    factor = len(topic.live[min(topic.live)].replicas or ())
    if more.assignment is not None:
        if len(more.assignment) != len(new):
            sentence = f"{len(new)} partitions are new, and {len(more.assignment)} are assigned."
            raise Failed(Error.INVALID_REPLICA_ASSIGNMENT, sentence)
        return dict(zip(new, checked_layout(more.assignment, live, factor), strict=True))
    if factor > len(live):
        sentence = f"Replication factor {factor} of topic {more.topic} cannot be met: {len(live)} brokers are live."
        raise Failed(Error.INVALID_REPLICATION_FACTOR, sentence)
    return dict(zip(new, place(live, len(new), factor, start=sum(more.topic.encode()) + new[0]), strict=True))


def create_partitions(command: Command, more: MorePartitions) -> Procedure[dict[int, tuple[int, ...]]]:
    """The new partitions and their replicas. Raises Failed."""
    layout = yield from check_more(more)
    topic = yield from read_topic(more.topic)
    unfinished = [each for each in topic.partitions.values() if each.replicas is None]
    yield from clean_partitions(command, more.topic, unfinished)
    yield from add_partitions(command, more.topic, layout)
    return layout


def checked_layout(
    assignment: Sequence[Sequence[int]], live: Sequence[int], factor: int | None
) -> list[tuple[int, ...]]:
    """Raises Failed unless every partition has the same number of different live brokers."""
    wanted = factor if factor is not None else len(assignment[0]) if assignment else 0
    for index, replicas in enumerate(assignment):
        if not replicas or len(set(replicas)) != len(replicas) or not set(replicas) <= set(live):
            sentence = f"Replicas {list(replicas)}, the {_ordinal(index)} ones named, must be different live brokers."
            raise Failed(Error.INVALID_REPLICA_ASSIGNMENT, sentence)
        if len(replicas) != wanted:
            sentence = "All partitions of a topic must have the same number of replicas."
            raise Failed(Error.INVALID_REPLICA_ASSIGNMENT, sentence)
    return [tuple(replicas) for replicas in assignment]


def _ordinal(index: int) -> str:
    return {0: "first", 1: "second", 2: "third"}.get(index, f"{index + 1}th")
