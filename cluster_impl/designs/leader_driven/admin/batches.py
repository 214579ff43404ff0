"""Steps and waits that several commands share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from cluster_impl.coordination.steps import Absent, Children, Create, Delete, Names, NotEmpty, Present, Steps, run
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.reading import running_brokers
from cluster_impl.designs.leader_driven.admin.seam import Await, Command, Procedure
from cluster_impl.replication.control_plane import TopicPartition

LOOK_AGAIN = 1.0
"""Seconds after which a wait for live brokers asks anew which ones live."""


def chunks(indexes: Collection[int], size: int) -> Iterator[list[int]]:
    ordered = sorted(indexes)
    for at in range(0, len(ordered), size):
        yield ordered[at : at + size]


def announce(topic: str, replicas: Mapping[int, Sequence[int]]) -> Steps[None]:
    """Write what each partition is to have below /partitions_reassigned; what is there is left as it is."""
    missing = dict(replicas)
    while missing:  # whoever completes a reassignment may take the topic's znode away when it is empty
        wanted = [(index, znodes.reassigned(TopicPartition(topic, index)), each) for index, each in missing.items()]
        creates = [Create(path, znodes.write_replicas(each)) for _, path, each in wanted]
        _, *outcomes = yield [Create(znodes.reassigned_topic(topic)), *creates]
        missing = {
            index: each
            for (index, _, each), outcome in zip(wanted, outcomes, strict=True)
            if isinstance(outcome, Absent)
        }


def forget_empty(topic: str) -> Steps[None]:
    """Take the topic's znode below /partitions_reassigned away unless something is in it."""
    yield [Delete(znodes.reassigned_topic(topic))]


def delete_trees(roots: Sequence[str]) -> Steps[None]:
    """With all that is in them, also if replicas put something there meanwhile."""
    left = list(roots)
    while left:
        outcomes = yield [Children(path) for path in left]
        below = [
            f"{path}/{name}"
            for path, outcome in zip(left, outcomes, strict=True)
            if isinstance(outcome, Names)
            for name in outcome.names
        ]
        yield from run([Delete(path) for path in below])
        outcomes = yield [Delete(path) for path in left]
        left = [path for path, outcome in zip(left, outcomes, strict=True) if isinstance(outcome, NotEmpty)]


def await_consumed(command: Command, requests: Mapping[str, int]) -> Procedure[dict[str, int]]:
    """Until the live brokers have taken their requests (path -> broker id); those that they have not, in the end.

    A broker that ends meanwhile is waited for no more: its requests stay in its queue.
    """
    until = command.now() + command.patience
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
