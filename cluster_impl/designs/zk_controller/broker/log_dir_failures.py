"""Tells the controller of failed log dirs: by ReplicaStateEvent, or below its level by a znode under
/log_dir_event_notification (KIP-112). Either is best effort.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cluster_impl.coordination.errors import ConnectionLost, NoNode, SessionExpired
from cluster_impl.coordination.znodes import Created
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.broker.link import ControllerLink
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

GATHER = 0.1
"""Seconds in which errors gather before one message is sent: a dir fails with all of its replicas."""
ATTEMPTS = 10
RETRY = 0.2
"""Seconds between attempts. After the last one the message is lost, as ReplicaStateEvent's text allows."""

OFFLINE = 1
"""The one type of event there is."""


@dataclass(slots=True)
class FailureAccumulator:
    """Gathers failures into one message. Told the time, in seconds; `due` is when to send, None if there is nothing."""

    gather: float = GATHER
    due: float | None = None
    reasons: list[str] = field(default_factory=list)
    _lost: dict[TopicPartition, None] = field(default_factory=dict)

    def failed(self, reason: str, lost: Iterable[TopicPartition], now: float) -> None:
        """A failure that took no replica with it is nothing to report: no topic at all would mean every topic."""
        before = len(self._lost)
        self._lost |= dict.fromkeys(lost)
        if len(self._lost) > before:
            self.reasons.append(reason)
            if self.due is None:
                self.due = now + self.gather

    def take(self) -> tuple[str, list[TopicPartition]]:
        """The message: why, and what is lost. Afterwards there is nothing."""
        message = "; ".join(self.reasons), list(self._lost)
        self.due, self.reasons, self._lost = None, [], {}
        return message


class Sender(Protocol):
    async def send(self, reason: str, lost: Sequence[TopicPartition]) -> None:
        """Tell the controller, or give up and say so in the log."""
        ...


class LogDirFailures:
    """Lets errors gather, and has one message at a time sent."""

    def __init__(self, sender: Sender) -> None:
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
            log.info("telling the controller of %d replicas that are offline: %s", len(lost), reason)
            await self._sender.send(reason, lost)

    def close(self) -> None:
        if self._reporting is not None:
            self._reporting.cancel()


class EventSender:
    """ReplicaStateEvent. `broker_epoch` gives this process's own; times are seconds."""

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
                problem = "this broker was registered anew, and the controller asks what it has"
                break
            try:
                asked, reply = await self._link.request(self._request(epoch, reason, lost), 0, self._timeout)
            except (ConnectionError, TimeoutError) as failure:
                problem = str(failure)
                continue
            error = Error(reply.error_code)
            if error is Error.NONE:
                return
            problem = f"broker {asked} answered {error.name}"
            if error is not Error.NOT_CONTROLLER:
                break
            self._link.mistaken(asked)
        log.error("the controller was not told of %d offline replicas: %s", len(lost), problem)

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
    """What of ZooKeeper is needed here."""

    async def create(self, path: str, data: bytes, *, sequence: bool) -> Created: ...

    async def until_connected(self) -> None: ...


class NotificationSender:
    """A sequential znode that names this broker; the controller asks by LeaderAndIsr which replicas are meant."""

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
            except NoNode as error:
                log.error("the controller was not told of %d offline replicas: %s", len(lost), error)
                return
