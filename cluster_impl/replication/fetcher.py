"""Follows one leader: copies the logs of all partitions that it leads and this broker replicates.

One connection and one request at a time. A partition first asks which part of its log the leader's has as well
(OffsetForLeaderEpoch), then fetches. A refused partition waits before it asks again, so that a follower never spins.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH, ControlPlane, Endpoint, TopicPartition
from fencepost.cluster_impl.replication.replica import LogEpochEnd, Replica
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.storage.epochs import UNDEFINED_EPOCH
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connect, Connection
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.on_demand import OnDemandConnection

log = logging.getLogger(__name__)

_FETCH_VERSION = 17
_EPOCH_VERSION = 4
_CONNECT_TIMEOUT_S = 2.0
_FETCH_RESPONSE_MAX_BYTES = 10 * 1024 * 1024
_REFUSAL_PAUSE = 0.1
_PAUSE_FOR_EACH = 0.0005
"""Seconds added to the pause for each followed partition: a request names all of them, so with many partitions it is
repeated less often for one of them."""
_FIRST_CONNECT_PAUSE, _LONGEST_CONNECT_PAUSE, _LONGEST_BACKOFF = 0.05, 1.0, 10


@dataclass(slots=True, eq=False)
class Following:
    """One followed partition. `leader_epoch` and `offset` are those of the pending request; other answers are void."""

    replica: Replica
    truncated: bool = False
    """True once the log is known to be a prefix of the leader's."""
    not_before: float = 0.0
    leader_epoch: int = -1
    offset: int = -1
    error: Error = Error.NONE

    def note_request(self) -> None:
        self.leader_epoch, self.offset = self.replica.core.leader_epoch, self.replica.log.log_end_offset

    @property
    def is_current(self) -> bool:
        """True if the replica has not changed since the request was sent (KAFKA-18991)."""
        core = self.replica.core
        return self.leader_epoch == core.leader_epoch and self.offset == self.replica.log.log_end_offset


class Fetcher:
    """The follower of one leader. Runs as one task while there are partitions."""

    def __init__(self, leader: int, control: ControlPlane, config: DataPlaneConfig, connect: Connect) -> None:
        self.leader = leader
        self._control = control
        self._config = config
        self._connect = connect
        self._partitions: dict[TopicPartition, Following] = {}
        self._changed = asyncio.Event()
        self._connection = OnDemandConnection[Endpoint]()
        self._polling = False
        self._interrupted = False
        self._interrupting: asyncio.TimerHandle | None = None
        self._task = asyncio.create_task(self._run())

    @property
    def idle(self) -> bool:
        return not self._partitions

    def follow(self, replica: Replica, *, is_new_term: bool) -> None:
        """Copy a partition from now on; at a new leader term the logs may differ."""
        fetched = self._partitions.get(replica.core.name)
        if is_new_term or fetched is None or fetched.replica is not replica:
            self._partitions[replica.core.name] = Following(replica)
        elif fetched.not_before:
            fetched.not_before = 0.0
        else:
            return
        self._changed.set()
        self._interrupt_poll()

    def _interrupt_poll(self) -> None:
        """Give up a fetch that may wait for long, since it lacks a partition that has just become due.

        That happens after a short pause, so that partitions which become due together share the next request.
        """
        if self._polling and self._interrupting is None:
            pause = len(self._partitions) * _PAUSE_FOR_EACH
            self._interrupting = asyncio.get_running_loop().call_later(pause, self._interrupt)

    def _interrupt(self) -> None:
        self._interrupting = None
        if self._polling and self._changed.is_set():
            self._interrupted = True
            self._connection.close()

    def remove(self, name: TopicPartition) -> None:
        self._partitions.pop(name, None)
        self._changed.set()

    def cancel(self) -> None:
        self._task.cancel()

    async def close(self) -> None:
        self.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        pauses = 0
        try:
            while True:
                try:
                    await self._round()
                    pauses = 0
                    continue
                except (ConnectionError, TimeoutError) as error:
                    if self._interrupted:
                        self._interrupted = False
                        continue
                    if pauses == 0:
                        log.warning("cannot follow broker %d: %s", self.leader, error)
                except Exception:
                    log.exception("the follower of broker %d failed in this broker and tries again", self.leader)
                self._connection.close()
                await asyncio.sleep(min(_FIRST_CONNECT_PAUSE * 2**pauses, _LONGEST_CONNECT_PAUSE))
                pauses = min(pauses + 1, _LONGEST_BACKOFF)
        finally:
            self._connection.close()
            if self._interrupting is not None:
                self._interrupting.cancel()

    async def _round(self) -> None:
        """Send one request to the leader, or pause if no partition is due. Raises ConnectionError, TimeoutError."""
        self._changed.clear()
        now = time.monotonic()
        due = [following for following in self._partitions.values() if following.not_before <= now]
        if self._control.broker_epoch() == NO_EPOCH:
            due = []
        if not due:
            await self._pause(now)
            return
        connection = await self._connected()
        due = [following for following in due if self._partitions.get(following.replica.core.name) is following]
        to_truncate = [f for f in due if not f.truncated and f.replica.latest_epoch() != UNDEFINED_EPOCH]
        if to_truncate:
            await self._truncate(connection, to_truncate)
        elif due:
            await self._fetch(connection, due)

    async def _pause(self, now: float) -> None:
        """Wait until a partition changes, or until the first one is due again."""
        until = min((following.not_before for following in self._partitions.values()), default=now)
        wait = max(until - now, _REFUSAL_PAUSE) if self._partitions else None
        try:
            async with asyncio.timeout(wait):
                await self._changed.wait()
        except TimeoutError:
            pass

    async def _connected(self) -> Connection:
        """Return a connection to the process that has the leader's id now, which may be another one than before."""
        broker = self._control.cluster().brokers.get(self.leader)
        endpoint = broker.endpoints.get(self._config.inter_broker_listener) if broker else None
        if endpoint is None:
            raise ConnectionError(f"no live broker {self.leader} is known")
        return await self._connection.to(
            endpoint, lambda: self._connect(endpoint.host, endpoint.port, _CONNECT_TIMEOUT_S)
        )

    async def _truncate(self, connection: Connection, followings: Sequence[Following]) -> None:
        """Ask the leader for the ends of the latest epochs, and cut each log to the part that both sides share."""
        request = m.OffsetForLeaderEpochRequest(replica_id=self._control.broker_id)
        topic = m.OffsetForLeaderEpochRequest.OffsetForLeaderTopic
        partition = m.OffsetForLeaderEpochRequest.OffsetForLeaderPartition
        for following in followings:
            following.note_request()
            name = following.replica.core.name
            requested = partition(
                partition=name.partition,
                current_leader_epoch=following.leader_epoch,
                leader_epoch=following.replica.latest_epoch(),
            )
            request.topics.append(topic(topic=name.topic, partitions=[requested]))
        response = await connection.request(request, _EPOCH_VERSION, timeout=self._config.fetch_timeout)
        for result in response.topics:
            for end in result.partitions:
                following_now = self._current(result.topic, end.partition)
                if following_now is None:
                    continue
                if end.error_code:
                    self._refused(following_now, Error(end.error_code))
                elif end.leader_epoch == UNDEFINED_EPOCH:
                    self._refused(following_now, Error.UNKNOWN_LEADER_EPOCH, "it knows none of our epochs")
                else:
                    self._cut(following_now, LogEpochEnd(end.leader_epoch, end.end_offset))

    def _cut(self, following: Following, leader: LogEpochEnd) -> None:
        try:
            following.truncated = following.replica.truncate(leader)
        except PartitionError as refused:
            self._refused(following, refused.error, f"its log cannot be cut: {refused}")

    async def _fetch(self, connection: Connection, followings: Sequence[Following]) -> None:
        """Fetch the records behind the ends of our logs; the request also reports those ends to the leader."""
        request = self._fetch_request(followings)
        names = {
            topic.topic_id: following.replica.core.name.topic
            for topic, following in zip(request.topics, followings, strict=True)
        }
        self._polling, self._interrupted = True, False
        try:
            response = await connection.request(request, _FETCH_VERSION, timeout=self._config.fetch_timeout)
        finally:
            self._polling = False
        for topic in response.responses:
            for data in topic.partitions:
                following = self._current(names.get(topic.topic_id, ""), data.partition_index)
                if following is not None:
                    self._fetched(following, data)

    def _fetch_request(self, followings: Sequence[Following]) -> m.FetchRequest:
        now = time.monotonic()
        waiting = [one.not_before - now for one in self._partitions.values() if one.not_before > now]
        wait = min([self._config.fetch_wait, *waiting])
        request = m.FetchRequest(
            replica_state=m.FetchRequest.ReplicaState(
                replica_id=self._control.broker_id, replica_epoch=self._control.broker_epoch()
            ),
            max_wait_ms=round(wait * 1000),
            min_bytes=1,
            max_bytes=_FETCH_RESPONSE_MAX_BYTES,
        )
        for following in followings:
            following.note_request()
            core = following.replica.core
            partition = m.FetchRequest.FetchPartition(
                partition=core.name.partition,
                current_leader_epoch=following.leader_epoch,
                fetch_offset=following.offset,
                last_fetched_epoch=following.replica.latest_epoch(),
                log_start_offset=following.replica.log.log_start_offset,
                partition_max_bytes=self._config.fetch_max_bytes,
            )
            request.topics.append(m.FetchRequest.FetchTopic(topic_id=core.topic_id, partitions=[partition]))
        return request

    def _fetched(self, following: Following, data: m.FetchResponse.PartitionData) -> None:
        diverging, replica = data.diverging_epoch, following.replica
        try:
            if data.error_code == Error.OFFSET_OUT_OF_RANGE and data.log_start_offset > replica.log.log_end_offset:
                replica.begin_anew(data.log_start_offset)
                following.not_before = 0.0
                return
            if data.error_code:
                if data.error_code == Error.OFFSET_OUT_OF_RANGE and not replica.asks_leader:
                    self._cut_beyond(replica, data.high_watermark)
                self._refused(following, Error(data.error_code))
                return
            if diverging is not None and diverging.epoch != UNDEFINED_EPOCH:
                following.truncated = replica.truncate(LogEpochEnd(diverging.epoch, diverging.end_offset))
                if following.is_current:
                    self._refused(following, Error.OFFSET_OUT_OF_RANGE, "its log differs, but not in what can be cut")
            else:
                replica.core.note_leader(serves_clients=data.last_stable_offset >= 0)
                replica.append_as_follower(data.records or b"", data.high_watermark, data.log_start_offset)
                following.not_before, following.error = 0.0, Error.NONE
        except PartitionError as refused:
            self._refused(following, refused.error, f"its records cannot be appended: {refused}")

    def _cut_beyond(self, replica: Replica, high_watermark: int) -> None:
        """Cut a log that ends beyond the leader's, where logs are not compared: committed records stay."""
        if high_watermark >= 0:
            replica.cut_to_high_watermark(high_watermark)

    def _current(self, topic: str, partition: int) -> Following | None:
        """Return the partition of an answer, unless it has changed since the request."""
        following = self._partitions.get(TopicPartition(topic, partition))
        return following if following is not None and following.is_current else None

    def _refused(self, following: Following, error: Error, why: str = "") -> None:
        """Let a partition wait, and log each reason once."""
        following.not_before = time.monotonic() + _REFUSAL_PAUSE + len(self._partitions) * _PAUSE_FOR_EACH
        if error is Error.OFFSET_OUT_OF_RANGE:
            following.truncated = False
        if error is not following.error:
            log.warning("%s: broker %d refused to be followed: %s", following.replica, self.leader, why or error.name)
        following.error = error
