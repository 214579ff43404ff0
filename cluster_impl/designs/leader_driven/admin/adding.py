"""Adding partitions ("Add partition to existing topic"), many at a time.

Each partition is announced, its replicas are started, and it is assigned once every replica has taken its request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.cluster_impl.coordination.steps import Absent, Create, Delete, Present, run
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.batches import announce, chunks, forget_empty
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import LOOK_AGAIN, Await, Command, Pause, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import read_leaderships
from fencepost.cluster_impl.designs.leader_driven.admin.sending import send
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error

Layout = Mapping[int, Sequence[int]]
"""The replicas of each partition by its index, the preferred replica first."""


def add_partitions(command: Command, topic: str, layout: Layout) -> Procedure[None]:
    """Create the partitions of `layout`. Raises RequestError; unassigned partitions are left for a clean-up."""
    for done, chunk in enumerate(chunks(layout, command.at_once), start=1):
        yield from command.within_limit(len(chunk), _add(command, topic, {index: layout[index] for index in chunk}))
        command.report_progress(
            f"{min(done * command.at_once, len(layout))} of {len(layout)} partitions of {topic} are made"
        )
    yield from forget_empty(topic)


def _add(command: Command, topic: str, layout: Layout) -> Procedure[None]:
    which = {index: TopicPartition(topic, index) for index in layout}
    # The partition's znode comes first: replicas put /leader and /ISR into it, and never make it themselves.
    outcomes = yield [Create(znodes.partition(partition)) for partition in which.values()]
    if any(isinstance(outcome, Absent) for outcome in outcomes):
        raise RequestError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {topic} no longer exists.")
    yield from announce(topic, layout)
    sent = yield from send(
        command,
        [
            (StateChange.START_REPLICA, which[index], broker)
            for index, replicas in layout.items()
            for broker in replicas
        ],
    )
    requests = {path: (partition, broker_id) for partition, broker_id, path in sent}
    outcomes = yield Await(list(requests), command.now() + command.timeout_s)
    idle = [requests[path] for path, outcome in zip(requests, outcomes, strict=True) if isinstance(outcome, Present)]
    if idle:
        partitions = sorted({partition.partition for partition, _ in idle})
        raise RequestError(
            Error.REQUEST_TIMED_OUT, _untaken(command, topic, partitions, {broker for _, broker in idle})
        )
    yield from run(
        [
            write
            for index, replicas in layout.items()
            for write in (
                Create(znodes.replicas(which[index]), znodes.write_replicas(replicas)),
                Delete(znodes.reassigned(which[index])),
            )
        ]
    )


def _untaken(command: Command, topic: str, partitions: Sequence[int], brokers: set[int]) -> str:
    few = ", ".join(map(str, partitions[:5])) + (f" and {len(partitions) - 5} more" if len(partitions) > 5 else "")
    return (
        f"Partition {few} of topic {topic} could not be made within {command.timeout_s:g} s: "
        f"broker {', '.join(map(str, sorted(brokers)))} did not take the request to start a replica. "
        "The next attempt cleans up what this one left."
    )


def await_leaders(command: Command, topic: str, indexes: Sequence[int]) -> Procedure[list[int]]:
    """Wait for leaders; return the partitions that still have no serving leader when the timeout is over.

    The command polls: watches on /leader belong to the brokers that host the partition.
    """
    until = command.now() + command.timeout_s
    left = list(indexes)
    while True:
        found = yield from read_leaderships(topic, left)
        left = [index for index in left if not found[index].serves]
        if not left or command.now() >= until:
            return left
        yield Pause(command.now() + LOOK_AGAIN)
