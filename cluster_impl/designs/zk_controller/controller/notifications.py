"""What brokers of a legacy level tell by sequential znodes: changed ISRs, and log dirs that failed.

Each notification is deleted when it has been dealt with. Those that a new controller finds are deleted at once: it
reads all states and probes all replicas anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from cluster_impl.coordination.steps import Delete, Found, Get, Steps, names, run
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller.core import Core
from cluster_impl.designs.zk_controller.controller.leadership import read_states
from cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)

T = TypeVar("T")


def isr_changes(core: Core) -> Steps[None]:
    """Adopt the ISRs that leaders wrote, and pass them on to all brokers."""
    found = yield from _notifications(znodes.ISR_CHANGES)
    changed: dict[TopicPartition, None] = {}
    for path, data in found:
        changed.update(dict.fromkeys(_read(znodes.read_partitions, path, data)))
    known = [each for each in changed if each in core.context.leadership]
    yield from read_states(core.context, known)
    if known:
        core.batch.update_metadata(known)
    yield from run([Delete(path) for path, _ in found])


def log_dir_events(core: Core) -> Steps[None]:
    """Probe the brokers that had failures with LeaderAndIsr: replicas of a failed dir answer with a storage error."""
    found = yield from _notifications(znodes.LOG_DIR_EVENTS)
    brokers: dict[int, None] = {}
    for path, data in found:
        events = _read(znodes.read_log_dir_events, path, data)
        brokers.update(dict.fromkeys(each.broker_id for each in events if each.event == znodes.LOG_DIR_FAILURE))
    for broker_id in brokers:
        held = [each for each in core.context.on_broker(broker_id) if each.topic not in core.context.deletion_begun]
        core.replicas.bring_online((each, broker_id) for each in held if core.context.is_online(broker_id, each))
    yield from run([Delete(path) for path, _ in found])


def forget(path: str) -> Steps[None]:
    """Set the watch on the notifications under `path`, and delete those that are there."""
    listed = yield from names(path, watch=True)
    yield from run([Delete(f"{path}/{name}") for name in listed])


def _notifications(path: str) -> Steps[list[tuple[str, bytes]]]:
    """Path and data of each, in their order, with a watch for later ones."""
    listed = yield from names(path, watch=True)
    paths = [f"{path}/{name}" for name in listed]
    outcomes = yield from run([Get(each) for each in paths])
    return [(each, outcome.data) for each, outcome in zip(paths, outcomes, strict=True) if isinstance(outcome, Found)]


def _read(reader: Callable[[str, bytes], Sequence[T]], path: str, data: bytes) -> Sequence[T]:
    """What a notification says; nothing if it makes no sense. It is deleted all the same."""
    try:
        return reader(path, data)
    except MalformedZnode as problem:
        log.error("a notification is passed over: %s", problem)
        return ()
