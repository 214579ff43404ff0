"""Requests of administrative commands to many brokers at once ("sendStateChange" at epoch -1)."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence

from fencepost.cluster_impl.coordination.steps import Create, Created, Exists, Present, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Command
from fencepost.cluster_impl.designs.leader_driven.state_changes.queue import NotQueued, put
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import (
    StateChange,
    StateChangeRequest,
    write_request,
)
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

Wanted = tuple[StateChange, TopicPartition, int]
"""The change, the partition and the broker id of a request to send."""
Sent = tuple[TopicPartition, int, str]
"""The partition, the broker id and the queue path of a request that was sent."""


def send(command: Command, wanted: Sequence[Wanted]) -> Steps[list[Sent]]:
    """Put all requests. Raises RequestError if one cannot be put; earlier ones stay in their queues."""
    sent, problems = yield from _send(command, wanted)
    if problems:
        raise RequestError(Error.BROKER_NOT_AVAILABLE, f"Not every broker could be sent its request: {problems[0]}.")
    return sent


def send_as_far_as_possible(command: Command, wanted: Sequence[Wanted]) -> Steps[list[Sent]]:
    """Put as many close requests as possible; a broker that gets none finds out when it starts."""
    sent, problems = yield from _send(command, wanted)
    for problem in problems:
        log.warning("a close request could not be sent: %s", problem)
    return sent


def _send(command: Command, wanted: Sequence[Wanted]) -> Steps[tuple[list[Sent], list[str]]]:
    by_broker: dict[int, list[StateChangeRequest]] = defaultdict(list)
    for change, partition, broker_id in wanted:
        by_broker[broker_id].append(StateChangeRequest.by_admin(change, partition))
    if not by_broker:
        return [], []
    queues = yield [Exists(znodes.state(broker_id)) for broker_id in by_broker]
    sent: list[Sent] = []
    problems: list[str] = []
    roomy: list[tuple[int, StateChangeRequest, int]] = []
    for (broker_id, requests), queue in zip(by_broker.items(), queues, strict=True):
        waiting = queue.stat.children if isinstance(queue, Present) else command.queue_capacity
        if waiting + len(requests) <= command.queue_capacity:
            roomy += [(broker_id, request, waiting + at) for at, request in enumerate(requests, start=1)]
            continue
        for request in requests:
            try:
                path = yield from put(request, broker_id, command.queue_capacity, command.monitor)
                sent.append((request.partition, broker_id, path))
            except NotQueued as problem:
                problems.append(str(problem))
    if roomy:
        outcomes = yield [
            Create(znodes.request_prefix(broker_id), write_request(request), sequence=True)
            for broker_id, request, _ in roomy
        ]
        for (broker_id, request, backlog), outcome in zip(roomy, outcomes, strict=True):
            if isinstance(outcome, Created):
                command.monitor.requested(request, broker_id, backlog)
                sent.append((request.partition, broker_id, outcome.path))
            else:
                problems.append(f"broker {broker_id} has no state change queue")
    return sent, problems
