"""Fetch, for clients and for followers.

Followers are not clients: a fenced broker still serves them while it leads, and they read beyond the high watermark.
A client may read from a follower, which serves what it knows to be committed; a leader that is configured so sends a
client to a follower in its rack (KIP-392).
Each request names all of its partitions here: fetch sessions (`fetch_sessions`) have put them together.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from fencepost.cluster_impl.api.readers import Client, Follower, Reader
from fencepost.cluster_impl.api.serving import Answer, body_of
from fencepost.cluster_impl.config.values import ReplicaSelector
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.purgatory import DelayedFetch
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal
from fencepost.cluster_impl.wire.server import Request

_RACKS_FROM = 11
"""The version from which clients name their rack, and read from followers."""
_TOPIC_IDS_FROM = 13
_REPLICA_STATE_FROM = 15
_READ_COMMITTED = 1
_CONSUMER = -1
_NO_REPLICA = -1
_NONE_STABLE = -1
_LARGEST_RESPONSE = 16 * 1024 * 1024
"""Bytes; a client that asks for more gets the rest by its next request, and cannot exhaust the broker's memory."""

PartitionData = m.FetchResponse.PartitionData
ReplicaState = m.FetchRequest.ReplicaState


@dataclass(slots=True)
class RequestedPartition:
    """One partition of a request: the replica to read, or the error if there is none."""

    topic: m.FetchRequest.FetchTopic
    partition: m.FetchRequest.FetchPartition
    replica: Replica | None
    error: Error
    high_watermark: int = -1
    """Sent also to a follower that is refused because its log ends beyond this one's."""
    log_start_offset: int = -1
    """Sent also to a follower that is refused because its log ends before this one begins."""


class Fetch:
    """Reads at once; waits for `min_bytes` if there are too few bytes and no errors."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas
        self._control = replicas.control
        self._knows_racks = replicas.config.replica_selector is ReplicaSelector.RACK_AWARE
        self._turn = itertools.count()

    def handle(self, request: Request) -> Answer:
        body = body_of(request, m.FetchRequest)
        follower = replica_state(body, request.version)
        is_client = follower.replica_id < 0
        if is_client and not self._control.serving():
            return refusal(body, Error.NOT_LEADER_OR_FOLLOWER)
        requested = [
            self._find(topic, partition, request.version) for topic in body.topics for partition in topic.partitions
        ]
        if not is_client:
            for one in requested:
                self._credit(one, follower)
        reader = self._client(body, request) if is_client else Follower(follower.replica_id, self._knows_racks)
        pending = PendingFetch(body, requested, next(self._turn), reader)
        response = pending.attempt(body.max_wait_ms <= 0)
        if response is not None:
            return response
        replicas = [one.replica for one in requested if one.replica is not None]
        watched = [] if is_client else [replica.purgatory.growth for replica in replicas]
        if is_client or self._knows_racks:
            watched += [replica.purgatory.commits for replica in replicas]
        return DelayedFetch(watched, body.max_wait_ms / 1000, pending.attempt).future

    def _client(self, body: m.FetchRequest, request: Request) -> Client:
        rack = body.rack_id if self._knows_racks else ""
        return Client(self._control, request.listener, rack, of_followers=request.version >= _RACKS_FROM)

    def _find(
        self, topic: m.FetchRequest.FetchTopic, partition: m.FetchRequest.FetchPartition, version: int
    ) -> RequestedPartition:
        name: str | None = topic.topic
        if version >= _TOPIC_IDS_FROM:
            name = self._replicas.topic_name(topic.topic_id)
            if name is None:
                return RequestedPartition(topic, partition, None, Error.UNKNOWN_TOPIC_ID)
        try:
            replica = self._replicas.find(name or "", partition.partition)
        except PartitionError as refused:
            return RequestedPartition(topic, partition, None, refused.error)
        if version >= _TOPIC_IDS_FROM and replica.core.topic_id != topic.topic_id:
            return RequestedPartition(topic, partition, None, Error.UNKNOWN_TOPIC_ID)
        return RequestedPartition(topic, partition, replica, Error.NONE)

    def _credit(self, requested: RequestedPartition, follower: ReplicaState) -> None:
        """Check and count a follower's position, once for each request."""
        if requested.replica is None:
            return
        fetch = FollowerFetch(
            replica_id=follower.replica_id,
            broker_epoch=follower.replica_epoch,
            leader_epoch=requested.partition.current_leader_epoch,
            offset=requested.partition.fetch_offset,
            log_start_offset=requested.partition.log_start_offset,
        )
        try:
            self._replicas.credit(requested.replica, fetch, requested.partition.last_fetched_epoch)
        except PartitionError as refused:
            if refused.error is Error.OFFSET_OUT_OF_RANGE:
                requested.high_watermark = requested.replica.core.high_watermark
                requested.log_start_offset = requested.replica.log.log_start_offset
            requested.replica, requested.error = None, refused.error


class PendingFetch:
    """A fetch with checked positions; each attempt reads again."""

    def __init__(self, body: m.FetchRequest, requested: list[RequestedPartition], turn: int, reader: Reader) -> None:
        self._body = body
        self._requested = requested
        self._reader = reader
        start = turn % len(requested) if requested else 0
        self._order = [*range(start, len(requested)), *range(start)]
        """Each request begins with another partition, so that large responses starve none of them."""

    def attempt(self, last: bool) -> Message | None:
        """Return the response, or None if waiting may bring more."""
        if self._reader.fencing_error():
            return refusal(self._body, Error.NOT_LEADER_OR_FOLLOWER)
        answers: dict[int, PartitionData] = {}
        limit = min(self._body.max_bytes, _LARGEST_RESPONSE)
        size, ready = 0, last or not self._requested
        for index in self._order:
            answers[index] = answer = self._read(self._requested[index], limit - size, is_first=not size)
            size += len(answer.records or b"")
            ready = ready or self._is_due(self._requested[index], answer)
        return self._response(answers) if ready or size >= min(self._body.min_bytes, limit) else None

    def _is_due(self, requested: RequestedPartition, answer: PartitionData) -> bool:
        """Return True if an answer about a partition is due, whatever the number of bytes."""
        if answer.error_code or answer.diverging_epoch is not None or answer.preferred_read_replica != _NO_REPLICA:
            return True
        return requested.replica is not None and self._reader.lacks(requested.replica)

    def _read(self, requested: RequestedPartition, bytes_left: int, *, is_first: bool) -> PartitionData:
        """Read one partition; only the first batch of a response may be larger than the bytes left for it."""
        partition = requested.partition
        answer = PartitionData(
            partition_index=partition.partition,
            error_code=requested.error,
            high_watermark=requested.high_watermark,
            log_start_offset=requested.log_start_offset,
            records=b"",
            aborted_transactions=[] if self._body.isolation_level == _READ_COMMITTED else None,
        )
        if requested.replica is None:
            return answer
        better = self._reader.better_replica(requested.replica, partition)
        if better is not None:
            bytes_left, is_first = 0, False
        wanted = max(min(partition.partition_max_bytes, bytes_left), int(is_first))
        try:
            read = self._reader.read(requested.replica, partition, wanted)
        except PartitionError as refused:
            answer.error_code = refused.error
            return answer
        answer.high_watermark = read.high_watermark
        # Without one, a follower knows that its leader does not serve clients, so that it does not either.
        answer.last_stable_offset = read.high_watermark if requested.replica.core.serves_clients else _NONE_STABLE
        answer.log_start_offset = read.log_start_offset
        if read.diverging is not None:
            answer.diverging_epoch = m.FetchResponse.EpochEndOffset(
                epoch=read.diverging.epoch, end_offset=read.diverging.end_offset
            )
        elif better is not None:
            answer.preferred_read_replica = better
        if is_first or len(read.records) <= bytes_left:
            answer.records = read.records
        return answer

    def _response(self, answers: dict[int, PartitionData]) -> m.FetchResponse:
        """Build the response, in the order of the request."""
        response = m.FetchResponse()
        topic: m.FetchRequest.FetchTopic | None = None
        for index, requested in enumerate(self._requested):
            if requested.replica is not None and not answers[index].error_code:
                self._reader.answered(requested.replica, answers[index].high_watermark)
            if requested.topic is not topic:
                topic = requested.topic
                response.responses.append(
                    m.FetchResponse.FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id)
                )
            response.responses[-1].partitions.append(answers[index])
        return response


def replica_state(body: m.FetchRequest, version: int) -> ReplicaState:
    """Return the sender's replica id and broker epoch. Before version 15 a follower cannot send an epoch."""
    if version < _REPLICA_STATE_FROM:
        return ReplicaState(replica_id=body.replica_id, replica_epoch=NO_EPOCH)
    return body.replica_state or ReplicaState(replica_id=_CONSUMER, replica_epoch=NO_EPOCH)
