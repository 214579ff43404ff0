"""A controller: keeps the committed image, and answers for the cluster while Raft makes it the active one.

KIP-631, The Metadata Topic: the leader of the quorum is the active controller; the others are hot standbys, with the
same image in memory. All of it runs on one event loop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast
from uuid import uuid4

from cluster_impl.designs.quorum.controller import heartbeats
from cluster_impl.designs.quorum.controller.alter_isr import alter_isr
from cluster_impl.designs.quorum.controller.leases import Leases
from cluster_impl.designs.quorum.controller.state import ControllerState, Outcome, Reply
from cluster_impl.designs.quorum.controller.term import Quorum, Term, TermEnded
from cluster_impl.designs.quorum.controller.topics import NotHeardYet, TopicDefaults, create_topics, delete_topics
from cluster_impl.designs.quorum.image import MetadataImage, MetadataRecord
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error
from cluster_impl.wire.records import decode_record
from cluster_impl.wire.server import Handler, Request

log = logging.getLogger(__name__)

NOBODY = -1

RETRY = 0.1
"""Seconds between attempts to create a topic while too few brokers were heard."""


class Controller:
    """Also the listener of its Raft node: `on_commit`, `on_elected`, `on_resigned`, `on_leader`."""

    def __init__(
        self, controller_id: int, controller_ids: frozenset[int], lease: float, defaults: TopicDefaults
    ) -> None:
        self._id = controller_id
        self._ids = controller_ids
        self._lease = lease
        self._defaults = defaults
        self._committed = MetadataImage()
        self._quorum: Quorum | None = None
        self._term: Term | None = None
        self._leader = NOBODY
        self._timer: asyncio.TimerHandle | None = None
        self.handlers: Mapping[int, Handler] = {
            m.BrokerHeartbeatRequest.API_KEY: self._broker_heartbeat,
            m.ControllerHeartbeatRequest.API_KEY: self._controller_heartbeat,
            m.AlterIsrRequest.API_KEY: self._alter_isr,
            m.CreateTopicsRequest.API_KEY: self._create_topics,
            m.DeleteTopicsRequest.API_KEY: self._delete_topics,
        }

    def attach(self, quorum: Quorum) -> None:
        """Name the Raft node that this controller listens to; before it starts."""
        self._quorum = quorum

    def on_commit(self, records: Sequence[tuple[int, bytes]]) -> None:
        for offset, value in records:
            self._committed.replay(cast("MetadataRecord", decode_record(value)), offset)
        if self._term is not None:
            self._term.state.stable_offset = self._committed.offset

    def on_elected(self, epoch: int) -> None:
        """Become active. Everything before this epoch is committed and in the image."""
        assert self._quorum is not None
        leases = Leases(self._lease)
        leases.assume(self._committed.brokers, self._committed.offset, time.monotonic())
        state = ControllerState(
            controller_id=self._id,
            controller_ids=self._ids,
            image=self._committed.copy(),
            leases=leases,
            end_offset=self._quorum.end_offset,
            stable_offset=self._committed.offset,
        )
        self._term = Term(epoch, self._quorum, state)
        log.info("this controller is active in epoch %d", epoch)
        self._watch_leases()

    def on_resigned(self) -> None:
        """Drop what is uncommitted, and the leases with it."""
        if self._term is not None:
            log.info("this controller is no longer active; its epoch was %d", self._term.epoch)
            self._term.ended = True
            self._term = None

    def on_leader(self, leader_id: int, epoch: int) -> None:
        if leader_id != self._leader:
            log.info("epoch %d: %s", epoch, "no leader" if leader_id == NOBODY else f"controller {leader_id} leads")
        self._leader = leader_id

    async def _broker_heartbeat(self, request: Request) -> m.BrokerHeartbeatResponse:
        body = cast("m.BrokerHeartbeatRequest", request.body)
        received_at = request.received_at
        try:
            return await self._run(lambda state: heartbeats.heartbeat(state, body, received_at), received_at)
        except TermEnded:
            return heartbeats.refusal(body, Error.NOT_CONTROLLER, self._leader)
        finally:
            self._watch_leases()

    async def _controller_heartbeat(self, request: Request) -> m.ControllerHeartbeatResponse:
        """No snapshots are made, so none is ever asked for."""
        error = Error.NOT_CONTROLLER if self._term is None else Error.NONE
        return m.ControllerHeartbeatResponse(error_code=error, start_snapshot=False)

    async def _alter_isr(self, request: Request) -> m.AlterIsrResponse:
        body = cast("m.AlterIsrRequest", request.body)
        received_at = request.received_at
        try:
            return await self._run(lambda state: alter_isr(state, body, received_at), received_at)
        except TermEnded:
            return m.AlterIsrResponse(error_code=Error.NOT_CONTROLLER)

    async def _create_topics(self, request: Request) -> m.CreateTopicsResponse:
        """Waits for brokers that may be active until they say so, or their lease is over."""
        body = cast("m.CreateTopicsRequest", request.body)
        try:
            async with asyncio.timeout(body.timeout_ms / 1000):
                while True:
                    now = time.monotonic()
                    try:
                        return await self._run(partial(self._created, body, now), now)
                    except NotHeardYet:
                        await asyncio.sleep(RETRY)
        except (TermEnded, TimeoutError) as why:
            error, sentence = _not_done(why)
            results = [
                m.CreateTopicsResponse.CreatableTopicResult(name=topic.name, error_code=error, error_message=sentence)
                for topic in body.topics
            ]
            return m.CreateTopicsResponse(topics=results)

    def _created(
        self, body: m.CreateTopicsRequest, now: float, state: ControllerState
    ) -> Outcome[m.CreateTopicsResponse]:
        return create_topics(state, body, now, self._defaults, uuid4)

    async def _delete_topics(self, request: Request) -> m.DeleteTopicsResponse:
        body = cast("m.DeleteTopicsRequest", request.body)
        try:
            async with asyncio.timeout(body.timeout_ms / 1000):
                return await self._run(lambda state: delete_topics(state, body, request.version), request.received_at)
        except (TermEnded, TimeoutError) as why:
            error, sentence = _not_done(why)
            named = [(topic.name, topic.topic_id) for topic in body.topics]
            results = [
                m.DeleteTopicsResponse.DeletableTopicResult(
                    name=name, topic_id=topic_id, error_code=error, error_message=sentence
                )
                for name, topic_id in named
            ]
            results += [
                m.DeleteTopicsResponse.DeletableTopicResult(name=name, error_code=error, error_message=sentence)
                for name in body.topic_names
            ]
            return m.DeleteTopicsResponse(responses=results)

    async def _run(self, operation: Callable[[ControllerState], Outcome[Reply]], now: float) -> Reply:
        if self._term is None:
            raise TermEnded("this controller is not active")
        return await self._term.run(operation, now)

    def _watch_leases(self) -> None:
        """Wake when the first lease ends. A timer that is set stays: leases only ever end later than it thinks."""
        if self._term is None or self._timer is not None:
            return
        next_end = self._term.state.leases.next_end()
        if next_end is not None:
            delay = max(0.0, next_end - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(delay, self._lease_may_be_over)

    def _lease_may_be_over(self) -> None:
        self._timer = None
        if self._term is not None:
            try:
                self._term.end_leases(time.monotonic())
            except TermEnded as ended:
                log.info("leases are left to the next active controller: %s", ended)
                return
        self._watch_leases()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _not_done(why: TermEnded | TimeoutError) -> tuple[Error, str]:
    if isinstance(why, TimeoutError):
        return Error.REQUEST_TIMED_OUT, "The change was not committed in time; it may still be."
    return Error.NOT_CONTROLLER, f"Ask the active controller: {why}."
