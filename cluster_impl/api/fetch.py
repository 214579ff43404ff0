"""Fetch, of clients and of followers.

Followers are not clients: a broker that is fenced still serves them while it leads, and they read beyond the high
watermark. Sessions are not kept; a session id of 0 tells clients so.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from cluster_impl.api.serving import Answer, body_of, still_said
from cluster_impl.replication.control_plane import NO_EPOCH, ControlPlane
from cluster_impl.replication.follower import FollowerFetch
from cluster_impl.replication.manager import ReplicaManager
from cluster_impl.replication.purgatory import DelayedFetch
from cluster_impl.replication.replica import Replica
from cluster_impl.replication.validation import Refused
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error
from cluster_impl.wire.server import Request

_TOPIC_IDS_FROM = 13
_REPLICA_STATE_FROM = 15
_CONSUMER = -1
_LARGEST_RESPONSE = 16 * 1024 * 1024
"""Bytes; a client that asks for more has to ask again, so that nobody decides how much memory this broker needs."""

PartitionData = m.FetchResponse.PartitionData
ReplicaState = m.FetchRequest.ReplicaState


@dataclass(slots=True)
class Asked:
    """One partition of a request: where it is read, or why it is not."""

    topic: m.FetchRequest.FetchTopic
    partition: m.FetchRequest.FetchPartition
    replica: Replica | None
    error: Error
    high_watermark: int = -1
    """Told also to a follower that is refused since its log ends beyond this one's."""


class Fetch:
    """Reads at once; waits for `min_bytes` if there is too little and nothing went wrong."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas
        self._control = replicas.control
        self._turn = itertools.count()

    def handle(self, request: Request) -> Answer:
        body = body_of(request, m.FetchRequest)
        follower = replica_state(body, request.version)
        is_client = follower.replica_id < 0
        if is_client and not self._control.serving():
            return refused_fetch(body)
        asked = [
            self._find(topic, partition, request.version) for topic in body.topics for partition in topic.partitions
        ]
        if not is_client:
            for one in asked:
                self._credit(one, follower)
        pending = PendingFetch(body, asked, next(self._turn), self._control if is_client else None)
        response = pending.attempt(body.max_wait_ms <= 0)
        if response is not None:
            return response
        replicas = [one.replica for one in asked if one.replica is not None]
        watched = [replica.commits if is_client else replica.growth for replica in replicas]
        return DelayedFetch(watched, body.max_wait_ms / 1000, pending.attempt).future

    def _find(self, topic: m.FetchRequest.FetchTopic, partition: m.FetchRequest.FetchPartition, version: int) -> Asked:
        name: str | None = topic.topic
        if version >= _TOPIC_IDS_FROM:
            name = self._replicas.topic_name(topic.topic_id)
            if name is None:
                return Asked(topic, partition, None, Error.UNKNOWN_TOPIC_ID)
        try:
            replica = self._replicas.find(name or "", partition.partition)
        except Refused as refused:
            return Asked(topic, partition, None, refused.error)
        if version >= _TOPIC_IDS_FROM and replica.core.topic_id != topic.topic_id:
            return Asked(topic, partition, None, Error.UNKNOWN_TOPIC_ID)
        return Asked(topic, partition, replica, Error.NONE)

    def _credit(self, asked: Asked, follower: ReplicaState) -> None:
        """Judge and count a follower's position, once for each request."""
        if asked.replica is None:
            return
        fetch = FollowerFetch(
            replica_id=follower.replica_id,
            broker_epoch=follower.replica_epoch,
            leader_epoch=asked.partition.current_leader_epoch,
            offset=asked.partition.fetch_offset,
        )
        try:
            self._replicas.credit(asked.replica, fetch, asked.partition.last_fetched_epoch)
        except Refused as refused:
            if refused.error is Error.OFFSET_OUT_OF_RANGE:
                asked.high_watermark = asked.replica.core.high_watermark
            asked.replica, asked.error = None, refused.error


class PendingFetch:
    """A fetch whose positions are judged: reads what there is, as often as it is asked.

    `client_of` says for a client's fetch whether it may be answered with records; None for a follower, who reads all
    of them.
    """

    def __init__(self, body: m.FetchRequest, asked: list[Asked], turn: int, client_of: ControlPlane | None) -> None:
        self._body = body
        self._asked = asked
        self._client_of = client_of
        self._committed = client_of is not None
        start = turn % len(asked) if asked else 0
        self._order = [*range(start, len(asked)), *range(start)]
        """Each request begins with another partition, so that a full response starves none."""

    def attempt(self, last: bool) -> m.FetchResponse | None:
        """The response, or None if waiting may bring more."""
        if self._client_of is not None and still_said(self._client_of):
            return refused_fetch(self._body)
        answers: dict[int, PartitionData] = {}
        limit = min(self._body.max_bytes, _LARGEST_RESPONSE)
        size, ready = 0, last or not self._asked
        for index in self._order:
            answers[index] = answer = self._read(self._asked[index], limit - size, is_first=not size)
            size += len(answer.records or b"")
            ready = ready or bool(answer.error_code) or answer.diverging_epoch is not None
        return self._response(answers) if ready or size >= min(self._body.min_bytes, limit) else None

    def _read(self, asked: Asked, room: int, *, is_first: bool) -> PartitionData:
        """Only the first batch of a response may be larger than the room that is left for it."""
        wanted = asked.partition
        answer = PartitionData(
            partition_index=wanted.partition,
            error_code=asked.error,
            high_watermark=asked.high_watermark,
            records=b"",
        )
        if asked.replica is None:
            return answer
        try:
            read = asked.replica.read(
                wanted.fetch_offset,
                wanted.current_leader_epoch,
                wanted.last_fetched_epoch,
                min(wanted.partition_max_bytes, room),
                committed=self._committed,
            )
        except Refused as refused:
            answer.error_code = refused.error
            return answer
        answer.high_watermark = answer.last_stable_offset = read.high_watermark
        answer.log_start_offset = read.log_start_offset
        if read.diverging is not None:
            answer.diverging_epoch = m.FetchResponse.EpochEndOffset(
                epoch=read.diverging.epoch, end_offset=read.diverging.end_offset
            )
        if is_first or len(read.records) <= room:
            answer.records = read.records
        return answer

    def _response(self, answers: dict[int, PartitionData]) -> m.FetchResponse:
        """In the order of the request."""
        response = m.FetchResponse()
        topic: m.FetchRequest.FetchTopic | None = None
        for index, asked in enumerate(self._asked):
            if asked.topic is not topic:
                topic = asked.topic
                response.responses.append(
                    m.FetchResponse.FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id)
                )
            response.responses[-1].partitions.append(answers[index])
        return response


def replica_state(body: m.FetchRequest, version: int) -> ReplicaState:
    """Who asks. Before version 15 a follower cannot prove its broker epoch, so it has none."""
    if version < _REPLICA_STATE_FROM:
        return ReplicaState(replica_id=body.replica_id, replica_epoch=NO_EPOCH)
    return body.replica_state or ReplicaState(replica_id=_CONSUMER, replica_epoch=NO_EPOCH)


def refused_fetch(body: m.FetchRequest, error: Error = Error.NOT_LEADER_OR_FOLLOWER) -> m.FetchResponse:
    return m.FetchResponse(
        responses=[
            m.FetchResponse.FetchableTopicResponse(
                topic=topic.topic,
                topic_id=topic.topic_id,
                partitions=[
                    PartitionData(partition_index=partition.partition, error_code=error, high_watermark=-1, records=b"")
                    for partition in topic.partitions
                ],
            )
            for topic in body.topics
        ]
    )
