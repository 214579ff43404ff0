"""Brokers are added and removed: their queues come and go ("Paths stored in Zookeeper", 6)."""

from __future__ import annotations

import os
import socket

from cluster_impl.coordination.steps import Absent, Create, Delete, Done, Exists, Present, Steps, names, run
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.batches import delete_trees
from cluster_impl.designs.leader_driven.admin.reading import numbers, read_partitions, stat_of, topic_names
from cluster_impl.designs.leader_driven.admin.seam import Failed
from cluster_impl.wire.errors import Error


def add_broker(broker_id: int) -> Steps[bool]:
    """Make its queue, and before that what every cluster stands on; whether there was none yet. Raises Failed."""
    yield from run([Create(path) for path in znodes.ROOTS])
    [outcome] = yield [Create(znodes.state(broker_id), znodes.write_queue(znodes.QueueInfo()))]
    if isinstance(outcome, Absent):
        sentence = f"{znodes.STATE} cannot be made: ZooKeeper lacks the path behind the servers; make that first."
        raise Failed(Error.UNKNOWN_SERVER_ERROR, sentence)
    return isinstance(outcome, Done)


def remove_broker(broker_id: int) -> Steps[int]:
    """Delete its queue; how many requests were in it. Raises Failed for a broker that runs, or is assigned something.

    The id is claimed meanwhile, as a broker does: no process of this id starts before this is over.
    """
    claim = znodes.Claim(os.getpid(), socket.gethostname())
    [outcome] = yield [Create(znodes.claim(broker_id), znodes.write_claim(claim), ephemeral=True)]
    if isinstance(outcome, Absent):
        raise Failed(Error.UNKNOWN_SERVER_ERROR, f"There is no {znodes.CLAIMS}: no broker has made this cluster yet.")
    if not isinstance(outcome, Done):
        sentence = f"Broker {broker_id} is running, or ended less than a session timeout ago: stop it, and try again."
        raise Failed(Error.INVALID_REQUEST, sentence)
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
        raise Failed(Error.INVALID_REQUEST, f"Broker {broker_id} is registered: stop it, and try again.")
    queue = yield from stat_of(znodes.state(broker_id))
    if queue is None:
        raise Failed(Error.BROKER_NOT_AVAILABLE, f"There is no broker {broker_id}: it has no queue.")
    assigned = yield from assigned_to(broker_id)
    if assigned:
        few = ", ".join(assigned[:5]) + (f" and {len(assigned) - 5} more" if len(assigned) > 5 else "")
        sentence = f"Broker {broker_id} is assigned {few}: reassign or delete these first."
        raise Failed(Error.INVALID_REQUEST, sentence)
    yield from delete_trees([znodes.state(broker_id)])
    return queue.children


def assigned_to(broker_id: int) -> Steps[list[str]]:
    """The partitions that have, or shall have, a replica there, as topic-partition."""
    topics = {*(yield from topic_names()), *(yield from names(znodes.REASSIGNED))}
    assigned = []
    for topic in sorted(topics):
        listed = [*(yield from names(znodes.topic(topic))), *(yield from names(znodes.reassigned_topic(topic)))]
        partitions = yield from read_partitions(topic, numbers(set(listed)))
        assigned += [f"{topic}-{index}" for index, each in partitions.items() if broker_id in each.named]
    return assigned
