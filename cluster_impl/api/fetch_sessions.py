"""Fetch sessions (KIP-227): a client names only the partitions that changed, and is sent only those.

A request with session epoch 0 begins a session with all of its partitions; one with -1 has none, and ends the one that
it names. Each later request builds on the one before it: it adds or changes partitions, and names those that it no
longer wants. The handler gets all partitions of the session in each case, so that permissions are asked for all.
"""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from fencepost.cluster_impl.api.serving import Answer, body_of
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Handler, Request

EVICTABLE_AFTER = 120.0
"""Seconds without a request after which a session makes room for another; in Kafka it is the same."""
LARGEST = 100_000
"""Partitions of a session: a client that names more sends full requests, and cannot fill the broker's memory."""
_NEW, _NONE = 0, -1
_LAST_EPOCH = 2**31 - 1
_TOPIC_IDS_FROM = 13
_NO_REPLICA = -1
_UNSENT = -1

Topic = str | UUID
Key = tuple[Topic, int]


@dataclass(slots=True)
class _Fetched:
    """A partition of a session: how the client wants it, and what was sent of it last."""

    wanted: m.FetchRequest.FetchPartition
    high_watermark: int = _UNSENT
    log_start_offset: int = _UNSENT

    def has_news(self, answer: m.FetchResponse.PartitionData) -> bool:
        """Return whether the answer is to be sent; from then on it counts as sent. An error is sent each time."""
        news = bool(
            answer.records
            or answer.error_code
            or answer.diverging_epoch is not None
            or answer.preferred_read_replica != _NO_REPLICA
            or answer.high_watermark != self.high_watermark
            or answer.log_start_offset != self.log_start_offset
        )
        self.high_watermark = _UNSENT if answer.error_code else answer.high_watermark
        self.log_start_offset = answer.log_start_offset
        return news


@dataclass(slots=True)
class _Session:
    """The partitions of a client in its order, and the epoch that its next request has to name."""

    id: int
    principal: str
    has_topic_ids: bool
    used_at: float
    epoch: int = 1
    partitions: dict[Key, _Fetched] = field(default_factory=dict)

    def apply(self, body: m.FetchRequest) -> None:
        """Add and change the partitions that a request names, and forget those that it wants no more."""
        for topic in body.topics:
            name = self._name(topic)
            for partition in topic.partitions:
                fetched = self.partitions.get((name, partition.partition))
                if fetched is None:
                    self.partitions[name, partition.partition] = _Fetched(partition)
                else:
                    fetched.wanted = partition
        for forgotten in body.forgotten_topics_data:
            for index in forgotten.partitions:
                self.partitions.pop((self._name(forgotten), index), None)

    def topics(self) -> Iterator[m.FetchRequest.FetchTopic]:
        """Yield all partitions as a request has them: each run of one topic together."""
        topic: m.FetchRequest.FetchTopic | None = None
        last: Topic | None = None
        for (name, _), fetched in self.partitions.items():
            if topic is None or name != last:
                if topic is not None:
                    yield topic
                named = {"topic_id": name} if self.has_topic_ids else {"topic": name}
                topic, last = m.FetchRequest.FetchTopic(**named), name  # type: ignore[arg-type]
            topic.partitions.append(fetched.wanted)
        if topic is not None:
            yield topic

    def news(self, response: m.FetchResponse) -> m.FetchResponse:
        """Return the response of a handler with those answers only that are new to the client."""
        reported = m.FetchResponse(error_code=response.error_code, session_id=self.id)
        for topic in response.responses:
            name = topic.topic_id if self.has_topic_ids else topic.topic
            kept = [
                answer
                for answer in topic.partitions
                if (fetched := self.partitions.get((name, answer.partition_index))) is None or fetched.has_news(answer)
            ]
            if kept:
                topic.partitions = kept
                reported.responses.append(topic)
        return reported

    def _name(self, topic: m.FetchRequest.FetchTopic | m.FetchRequest.ForgottenTopic) -> Topic:
        return topic.topic_id if self.has_topic_ids else topic.topic


class FetchSessions:
    """The sessions of a broker, at most `slots`. A client that gets none sends full requests, as before KIP-227."""

    def __init__(self, slots: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._slots = slots
        self._clock = clock
        self._sessions: OrderedDict[int, _Session] = OrderedDict()
        """By id, the one that was used longest ago first."""

    def __len__(self) -> int:
        return len(self._sessions)

    def among(self, handlers: Mapping[int, Handler]) -> dict[int, Handler]:
        """Return the handlers with that of Fetch behind these sessions."""
        key = m.FetchRequest.API_KEY
        return {**handlers, key: lambda request: self._handle(request, handlers[key])}

    def _handle(self, request: Request, fetch: Handler) -> Answer:
        body = body_of(request, m.FetchRequest)
        if body.session_epoch in (_NEW, _NONE):
            known = self._sessions.get(body.session_id)
            if known is not None and known.principal == request.principal:
                del self._sessions[known.id]
            session = self._begin(request) if body.session_epoch == _NEW else None
            if session is None:
                return fetch(request)
            session.apply(body)
            return _reported(session, fetch(request)) if self._keeps(session) else fetch(request)
        current = self._find(body, request)
        if isinstance(current, Error):
            return m.FetchResponse(error_code=current)
        current.epoch = 1 if current.epoch == _LAST_EPOCH else current.epoch + 1
        current.apply(body)
        if not self._keeps(current):
            return m.FetchResponse(error_code=Error.FETCH_SESSION_ID_NOT_FOUND)
        whole = m.FetchRequest(
            cluster_id=body.cluster_id,
            replica_id=body.replica_id,
            replica_state=body.replica_state,
            max_wait_ms=body.max_wait_ms,
            min_bytes=body.min_bytes,
            max_bytes=body.max_bytes,
            isolation_level=body.isolation_level,
            topics=list(current.topics()),
            rack_id=body.rack_id,
        )
        return _reported(current, fetch(replace(request, body=whole)))

    def _begin(self, request: Request) -> _Session | None:
        """Return a new session; None if all slots are taken by sessions that were used a short time ago."""
        now = self._clock()
        if len(self._sessions) >= self._slots:
            oldest = next(iter(self._sessions.values()), None)
            if oldest is None or now - oldest.used_at <= EVICTABLE_AFTER:
                return None
            del self._sessions[oldest.id]
        id = random.randint(1, _LAST_EPOCH)
        while id in self._sessions:
            id = random.randint(1, _LAST_EPOCH)
        session = _Session(id, request.principal, request.version >= _TOPIC_IDS_FROM, now)
        self._sessions[id] = session
        return session

    def _find(self, body: m.FetchRequest, request: Request) -> _Session | Error:
        """Return the session that a request builds on, or the error upon which its client begins another."""
        session = self._sessions.get(body.session_id)
        if session is None or session.principal != request.principal:
            return Error.FETCH_SESSION_ID_NOT_FOUND
        if session.epoch != body.session_epoch:
            return Error.INVALID_FETCH_SESSION_EPOCH
        if session.has_topic_ids != (request.version >= _TOPIC_IDS_FROM):
            return Error.FETCH_SESSION_TOPIC_ID_ERROR
        session.used_at = self._clock()
        self._sessions.move_to_end(session.id)
        return session

    def _keeps(self, session: _Session) -> bool:
        """Return whether a session is small enough to go on; else it ends."""
        if len(session.partitions) <= LARGEST:
            return True
        del self._sessions[session.id]
        return False


def _reported(session: _Session, answer: Answer) -> Answer:
    """Return the answer of a handler, now or later, as the session reports it."""
    if isinstance(answer, m.FetchResponse):
        return session.news(answer)
    if answer is None or isinstance(answer, Message):
        return answer
    return _reported_later(session, answer)


async def _reported_later(session: _Session, answer: Awaitable[Message | None]) -> Message | None:
    response = await answer
    return session.news(response) if isinstance(response, m.FetchResponse) else response
