"""Steps and waits that several commands share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from fencepost.cluster_impl.coordination.steps import (
    Absent,
    Create,
    Delete,
    Present,
    Steps,
)
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Await, Command, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import running_brokers
from fencepost.cluster_impl.replication.control_plane import TopicPartition

LOOK_AGAIN = 1.0
"""Seconds between two reads of the live brokers during a wait."""


def chunks(indexes: Collection[int], size: int) -> Iterator[list[int]]:
    """Yield the indexes in ascending order, at most `size` at a time."""
    ordered = sorted(indexes)
    for at in range(0, len(ordered), size):
        yield ordered[at : at + size]


def announce(topic: str, replicas: Mapping[int, Sequence[int]]) -> Steps[None]:
    """Write the target replicas of each partition to /partitions_reassigned, unless an entry exists."""
    missing = dict(replicas)
    while missing:  # a leader that completes a reassignment may delete the topic's empty znode
        targets = [
            (index, znodes.reassigned(TopicPartition(topic, index)), replicas) for index, replicas in missing.items()
        ]
        creates = [Create(path, znodes.write_replicas(replicas)) for _, path, replicas in targets]
        _, *outcomes = yield [Create(znodes.reassigned_topic(topic)), *creates]
        missing = {
            index: replicas
            for (index, _, replicas), outcome in zip(targets, outcomes, strict=True)
            if isinstance(outcome, Absent)
        }


def forget_empty(topic: str) -> Steps[None]:
    """Delete the topic's znode below /partitions_reassigned if it is empty."""
    yield [Delete(znodes.reassigned_topic(topic))]


def await_consumed(command: Command, requests: Mapping[str, int]) -> Procedure[dict[str, int]]:
    """Wait until the live brokers have taken their requests; return those that are left after the timeout.

    `requests` and the result map the path of each request to its broker id. A broker that ends meanwhile is not waited
    for; its requests stay in its queue.
    """
    until = command.now() + command.timeout_s
    left = dict(requests)
    while left:
        running = yield from running_brokers()
        left = {path: broker_id for path, broker_id in left.items() if broker_id in running}
        if not left or command.now() >= until:
            break
        paths = list(left)
        outcomes = yield Await(paths, min(until, command.now() + LOOK_AGAIN))
        left = {path: left[path] for path, outcome in zip(paths, outcomes, strict=True) if isinstance(outcome, Present)}
    return left
