"""Notifications by sequential znodes, from brokers below the level of KIP-343: changed ISRs and failed log dirs.

Each notification is deleted after it was handled. A new controller deletes those that it finds, as it reads all states
and probes all replicas anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from fencepost.cluster_impl.coordination.steps import Delete, Found, Get, Steps, names, run
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.state.leadership import read_states
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)

T = TypeVar("T")


def isr_changes(machines: StateMachines) -> Steps[None]:
    """Apply the ISRs that leaders wrote, and send them to all brokers."""
    found = yield from _notifications(znodes.ISR_CHANGES)
    changed: dict[TopicPartition, None] = {}
    for path, data in found:
        changed.update(dict.fromkeys(_read(znodes.read_partitions, path, data)))
    known = [partition for partition in changed if partition in machines.context.leadership]
    yield from read_states(machines.context, known)
    if known:
        machines.batch.update_metadata(known)
    yield from run([Delete(path) for path, _ in found])


def log_dir_events(machines: StateMachines) -> Steps[None]:
    """Send LeaderAndIsr to brokers with a failed log dir; its replicas are answered with a storage error."""
    context = machines.context
    found = yield from _notifications(znodes.LOG_DIR_EVENTS)
    brokers: dict[int, None] = {}
    for path, data in found:
        events = _read(znodes.read_log_dir_events, path, data)
        brokers.update(dict.fromkeys(event.broker_id for event in events if event.event == znodes.LOG_DIR_FAILURE))
    for broker_id in brokers:
        held = [
            partition for partition in context.on_broker(broker_id) if partition.topic not in context.deletion_begun
        ]
        machines.replicas.bring_online(
            (partition, broker_id) for partition in held if context.is_online(broker_id, partition)
        )
    yield from run([Delete(path) for path, _ in found])


def forget(path: str) -> Steps[None]:
    """Set the watch on the notifications under `path`, and delete those that are there."""
    listed = yield from names(path, watch=True)
    yield from run([Delete(f"{path}/{name}") for name in listed])


def _notifications(path: str) -> Steps[list[tuple[str, bytes]]]:
    """Return path and data of each notification, in order, and set a watch for later ones."""
    listed = yield from names(path, watch=True)
    paths = [f"{path}/{name}" for name in listed]
    outcomes = yield from run([Get(path) for path in paths])
    return [(path, outcome.data) for path, outcome in zip(paths, outcomes, strict=True) if isinstance(outcome, Found)]


def _read(reader: Callable[[str, bytes], Sequence[T]], path: str, data: bytes) -> Sequence[T]:
    """Return the entries of a notification, none if it cannot be read. It is deleted in both cases."""
    try:
        return reader(path, data)
    except MalformedZnode as problem:
        log.error("a notification is ignored: %s", problem)
        return ()
