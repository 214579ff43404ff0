"""Electing preferred leaders on request: the leader is asked to give way, as it does by itself when it balances.

The document knows "checkLoadBalancing" only, which each leader does by itself; a request is ours (decision DLD-51). It
goes through the state change queue of the leader's broker. There are no unclean elections.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.cluster_impl.coordination.steps import Steps, names
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import LOOK_AGAIN, Command, Pause, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import (
    PartitionLeadership,
    live_brokers,
    numbers,
    read_leaderships,
    read_partitions,
    topic_names,
)
from fencepost.cluster_impl.designs.leader_driven.admin.sending import Wanted, send_as_far_as_possible
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange
from fencepost.cluster_impl.designs.shared.partition_requests import (
    Election,
    election_not_needed,
    preferred_not_available,
    unknown_partition,
)
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error

GIVES_WAY_S = 10.0
"""Seconds after which a leader that was asked does not give way any more."""

Outcomes = dict[TopicPartition, RequestError | None]


def all_partitions() -> Steps[list[TopicPartition]]:
    partitions = []
    for name in (yield from topic_names()):
        listed = numbers((yield from names(znodes.topic(name))))
        partitions += [TopicPartition(name, index) for index in listed]
    return partitions


def elect_leaders(
    command: Command, election: Election, wanted: Sequence[TopicPartition], wait_s: float
) -> Procedure[Outcomes]:
    """Ask leaders to give way and wait, at most `wait_s` seconds; return None or the error of each partition."""
    outcomes: Outcomes = {}
    preferred: dict[TopicPartition, int] = {}
    live = frozenset((yield from live_brokers()))
    topics: dict[str, list[int]] = {}
    for at in wanted:
        topics.setdefault(at.topic, []).append(at.partition)
    requests: list[Wanted] = []
    for name, indexes in topics.items():
        stored = yield from read_partitions(name, indexes)
        led = yield from read_leaderships(name, indexes)
        for index in indexes:
            at, partition = TopicPartition(name, index), stored[index]
            if not partition.replicas or partition.is_being_deleted:
                outcomes[at] = unknown_partition(at)
                continue
            first = partition.replicas[0]
            outcomes[at] = _problem(election, first, led[index], live)
            leader = led[index].leader
            if outcomes[at] is None:
                preferred[at] = first
                if leader is not None:
                    requests.append((StateChange.PREFER_REPLICA, at, leader.broker_id))
    yield from send_as_far_as_possible(command, requests)
    left = yield from _await(command, preferred, min(wait_s, GIVES_WAY_S))
    return outcomes | {at: preferred_not_available(preferred[at]) for at in left}


def _problem(election: Election, preferred: int, now: PartitionLeadership, live: frozenset[int]) -> RequestError | None:
    """Return why no election is tried, None if one is."""
    leader, isr = now.leader, now.in_sync.isr if now.in_sync is not None else ()
    if election is Election.UNCLEAN:
        if leader is not None:
            return election_not_needed(leader.broker_id)
        message = f"Only the replicas in sync, {list(isr)}, can lead; there are no unclean elections here."
        return RequestError(Error.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
    if leader is not None and leader.broker_id == preferred:
        return election_not_needed(preferred)
    return None if preferred in isr and preferred in live else preferred_not_available(preferred)


def _await(command: Command, preferred: dict[TopicPartition, int], wait_s: float) -> Procedure[list[TopicPartition]]:
    """Wait for the preferred replicas to lead; return the partitions that they do not lead in time."""
    until, left = command.now() + wait_s, list(preferred)
    while left:
        for name in {at.topic for at in left}:
            indexes = [at.partition for at in left if at.topic == name]
            led = yield from read_leaderships(name, indexes)
            for index in indexes:
                at, now = TopicPartition(name, index), led[index]
                if now.serves and now.leader is not None and now.leader.broker_id == preferred[at]:
                    left.remove(at)
        if not left or command.now() >= until:
            break
        yield Pause(command.now() + LOOK_AGAIN)
    return left
