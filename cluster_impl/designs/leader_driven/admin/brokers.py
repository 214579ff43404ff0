"""Adding and removing brokers: creating and deleting their queues ("Paths stored in Zookeeper", 6)."""

from __future__ import annotations

import os
import socket

from fencepost.cluster_impl.coordination.steps import Absent, Create, Delete, Done, Exists, Present, Steps, names, run
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.reading import numbers, read_partitions, stat_of, topic_names
from fencepost.cluster_impl.designs.on_zookeeper.trees import delete_trees
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.wire.errors import Error


def add_broker(broker_id: int) -> Steps[bool]:
    """Create the broker's queue, and before it the root znodes of a cluster. Return whether the queue is new.

    Raises RequestError if ZooKeeper lacks the chroot path.
    """
    yield from run([Create(path) for path in znodes.ROOTS])
    [outcome] = yield [Create(znodes.state(broker_id), znodes.write_queue(znodes.QueueZnode()))]
    if isinstance(outcome, Absent):
        message = f"{znodes.STATE} cannot be created: ZooKeeper lacks the path after the server names; create it first."
        raise RequestError(Error.UNKNOWN_SERVER_ERROR, message)
    return isinstance(outcome, Done)


def remove_broker(broker_id: int) -> Steps[int]:
    """Delete the broker's queue and return the number of requests that it held.

    The command claims the broker id meanwhile, as a broker does, so no process with this id can start before it is
    done. Raises RequestError if the broker runs, or if a replica is assigned to it.
    """
    claim = znodes.ClaimZnode(os.getpid(), socket.gethostname())
    [outcome] = yield [Create(znodes.claim(broker_id), znodes.write_claim(claim), ephemeral=True)]
    if isinstance(outcome, Absent):
        raise RequestError(
            Error.UNKNOWN_SERVER_ERROR, f"There is no {znodes.CLAIMS}: no broker has created this cluster yet."
        )
    if not isinstance(outcome, Done):
        message = f"Broker {broker_id} is running, or ended less than a session timeout ago: stop it, and try again."
        raise RequestError(Error.INVALID_REQUEST, message)
    try:
        removed = yield from _remove_queue(broker_id)
    except Exception:
        yield [Delete(znodes.claim(broker_id))]
        raise
    yield [Delete(znodes.claim(broker_id))]
    return removed


def _remove_queue(broker_id: int) -> Steps[int]:
    [registration] = yield [Exists(znodes.broker(broker_id))]
    if isinstance(registration, Present):
        raise RequestError(Error.INVALID_REQUEST, f"Broker {broker_id} is registered: stop it, and try again.")
    queue = yield from stat_of(znodes.state(broker_id))
    if queue is None:
        raise RequestError(Error.BROKER_NOT_AVAILABLE, f"There is no broker {broker_id}: it has no queue.")
    assigned = yield from assigned_to(broker_id)
    if assigned:
        few = ", ".join(assigned[:5]) + (f" and {len(assigned) - 5} more" if len(assigned) > 5 else "")
        message = f"Broker {broker_id} is assigned {few}: reassign or delete these first."
        raise RequestError(Error.INVALID_REQUEST, message)
    yield from delete_trees([znodes.state(broker_id)])
    return queue.children


def assigned_to(broker_id: int) -> Steps[list[str]]:
    """Return the partitions that have, or are to have, a replica on the broker, as "topic-partition"."""
    topics = {*(yield from topic_names()), *(yield from names(znodes.REASSIGNED))}
    assigned = []
    for topic in sorted(topics):
        listed = [*(yield from names(znodes.topic(topic))), *(yield from names(znodes.reassigned_topic(topic)))]
        partitions = yield from read_partitions(topic, numbers(set(listed)))
        assigned += [f"{topic}-{index}" for index, partition in partitions.items() if broker_id in partition.named]
    return assigned
