"""Reports failed log dirs to the controller, by ReplicaStateEvent or, below its level, by a znode under
/log_dir_event_notification (KIP-112). Both are best effort.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NoNodeError, SessionExpired
from fencepost.cluster_impl.coordination.znodes import CreatedZnode
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.link import ControllerLink
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

GATHER = 0.1
"""Seconds for which errors are collected before one report is sent: all replicas of a dir fail together."""
ATTEMPTS = 10
RETRY = 0.2
"""Seconds between attempts. After the last one the report is dropped, as ReplicaStateEvent allows."""

OFFLINE = 1
"""The only type of event."""


@dataclass(slots=True)
class FailureAccumulator:
    """Collects failures for one report. `due` is the time at which to send it, in seconds; None without a failure."""

    gather: float = GATHER
    due: float | None = None
    reasons: list[str] = field(default_factory=list)
    _lost: dict[TopicPartition, None] = field(default_factory=dict)

    def failed(self, reason: str, lost: Iterable[TopicPartition], now: float) -> None:
        """Add a failure. One without a lost replica is not reported: a report without topics would mean all topics."""
        before = len(self._lost)
        self._lost |= dict.fromkeys(lost)
        if len(self._lost) > before:
            self.reasons.append(reason)
            if self.due is None:
                self.due = now + self.gather

    def take(self) -> tuple[str, list[TopicPartition]]:
        """Return the reasons and the lost replicas, and forget them."""
        message = "; ".join(self.reasons), list(self._lost)
        self.due, self.reasons, self._lost = None, [], {}
        return message


class FailureSender(Protocol):
    """A way to report failures to the controller."""

    async def send(self, reason: str, lost: Sequence[TopicPartition]) -> None:
        """Report lost replicas to the controller; log an error if that fails."""
        ...


class LogDirFailures:
    """Collects errors and sends one report at a time."""

    def __init__(self, sender: FailureSender) -> None:
        self._sender = sender
        self._accumulator = FailureAccumulator()
        self._reporting: asyncio.Task[None] | None = None

    def failed(self, reason: str, lost: Iterable[TopicPartition]) -> None:
        self._accumulator.failed(reason, lost, asyncio.get_running_loop().time())
        if self._accumulator.due is not None and (self._reporting is None or self._reporting.done()):
            self._reporting = asyncio.create_task(self._report())

    async def _report(self) -> None:
        while self._accumulator.due is not None:
            await asyncio.sleep(self._accumulator.due - asyncio.get_running_loop().time())
            reason, lost = self._accumulator.take()
            log.info("reporting %d offline replicas to the controller: %s", len(lost), reason)
            await self._sender.send(reason, lost)

    def close(self) -> None:
        if self._reporting is not None:
            self._reporting.cancel()


class EventSender:
    """Reports by ReplicaStateEvent. `broker_epoch` returns the epoch of this process; times are seconds."""

    def __init__(
        self,
        broker_id: int,
        broker_epoch: Callable[[], int],
        link: ControllerLink,
        timeout: float,
        retry: float = RETRY,
    ) -> None:
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._link = link
        self._timeout = timeout
        self._retry = retry

    async def send(self, reason: str, lost: Sequence[TopicPartition]) -> None:
        epoch = self._broker_epoch()
        problem = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(self._retry)
            if self._broker_epoch() != epoch:
                problem = "this broker has registered again, and the controller probes its replicas"
                break
            try:
                sender, reply = await self._link.request(self._request(epoch, reason, lost), 0, self._timeout)
            except (ConnectionError, TimeoutError) as failure:
                problem = str(failure)
                continue
            error = Error(reply.error_code)
            if error is Error.NONE:
                return
            problem = f"broker {sender} answered {error.name}"
            if error is not Error.NOT_CONTROLLER:
                break
            self._link.mistaken(sender)
        log.error("%d offline replicas were not reported to the controller: %s", len(lost), problem)

    def _request(self, epoch: int, reason: str, lost: Sequence[TopicPartition]) -> m.ReplicaStateEventRequest:
        topics: dict[str, list[m.ReplicaStateEventRequest.PartitionData]] = {}
        for one in lost:
            partition = m.ReplicaStateEventRequest.PartitionData(partition_id=one.partition)
            topics.setdefault(one.topic, []).append(partition)
        return m.ReplicaStateEventRequest(
            broker_id=self._broker_id,
            broker_epoch=epoch,
            event_type=OFFLINE,
            event_reason=reason,
            topics=[
                m.ReplicaStateEventRequest.TopicData(topic=topic, partitions=partitions)
                for topic, partitions in topics.items()
            ],
        )


class NotificationStore(Protocol):
    """The ZooKeeper operations that are used here."""

    async def create(self, path: str, data: bytes, *, sequence: bool) -> CreatedZnode: ...

    async def until_connected(self) -> None: ...


class NotificationSender:
    """Reports by a sequential znode that names this broker; the controller finds the replicas by LeaderAndIsr."""

    def __init__(self, broker_id: int, store: NotificationStore) -> None:
        self._broker_id = broker_id
        self._store = store

    async def send(self, reason: str, lost: Sequence[TopicPartition]) -> None:
        data = znodes.write_log_dir_event(znodes.LogDirEvent(self._broker_id))
        while True:
            try:
                await self._store.create(znodes.LOG_DIR_EVENT_PREFIX, data, sequence=True)
                return
            except (ConnectionLost, SessionExpired):
                await self._store.until_connected()
            except NoNodeError as error:
                log.error("%d offline replicas were not reported to the controller: %s", len(lost), error)
                return
