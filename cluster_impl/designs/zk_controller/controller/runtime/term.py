"""One term of a controller: a queue of events, handled one at a time by steps on ZooKeeper and requests to brokers.

Kafka Internals (2017) has one event thread. Here it is one task: it takes an event, runs the controller's steps to
their end, and sends the requests for the brokers. The term ends with the task, for any reason.

An old controller cannot write: each write is in a multi that first checks the version of /controller_epoch, which every
election raises.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

from fencepost.cluster_impl.coordination import znodes as zk
from fencepost.cluster_impl.coordination.execution import Execution, GuardFailed
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.zk_controller.controller import events
from fencepost.cluster_impl.designs.zk_controller.controller.controller import Controller
from fencepost.cluster_impl.designs.zk_controller.controller.events import ControllerMoved
from fencepost.cluster_impl.designs.zk_controller.controller.refusals import not_controller
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.channels import Channels, ResponseListener
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.elector import WonElection
from fencepost.cluster_impl.designs.zk_controller.znodes import CONTROLLER_EPOCH
from fencepost.cluster_impl.wire.codec import Message, RequestMessage

T = TypeVar("T")


class GuardedExecution(Execution):
    """Executes the writes of one term, guarded by the version of its controller epoch."""

    def __init__(self, zookeeper: ZooKeeper, epoch_version: int, watch: zk.Watch) -> None:
        super().__init__(zookeeper, watch, zk.Check(CONTROLLER_EPOCH, epoch_version))

    async def run(self, steps: Steps[T]) -> T:
        """Run steps to their end.

        Raises ControllerMoved or SessionExpired if the term is over; then the steps are closed.
        """
        try:
            return await super().run(steps)
        except GuardFailed as refusal:
            raise ControllerMoved("/controller_epoch was raised by another controller") from refusal


LATE = 0.1
CATCH_UP = 0.2
"""Seconds. A Tick that is LATE by so much means that the process was suspended. It is delayed by CATCH_UP, until the
requests that arrived meanwhile are read: a controller must not take its own suspension for silence of the brokers."""


class ControllerTerm:
    """Runs one controller from its election to the end of its term."""

    def __init__(
        self,
        controller: Controller,
        won: WonElection,
        zookeeper: ZooKeeper,
        make_channels: Callable[[ResponseListener], Channels],
    ) -> None:
        self.won = won
        self._controller = controller
        self._zookeeper = zookeeper
        self._session_id = zookeeper.session_id
        self._execution = GuardedExecution(zookeeper, won.epoch_version, self._znode_changed)
        self._channels = make_channels(self._broker_answered)
        self._queue: asyncio.Queue[events.Event] = asyncio.Queue()
        self._timer: asyncio.TimerHandle | None = None
        self._tick_is_queued = False
        self._not_before = -math.inf
        """The earliest time of the next Tick, after the process was suspended."""
        self._has_begun = False
        self._is_suspended = False
        """True from the suspension of the session until the controller has handled Reconnection."""
        self._is_over = False

    async def run(self) -> None:
        """Handle events for ever. Raises ControllerMoved, SessionExpired, or an error of the controller."""
        self._push(events.Election(self.won.epoch, time.monotonic()))
        self._zookeeper.listeners.append(self._session_changed)
        try:
            while True:
                await self._handle(await self._queue.get())
                self._has_begun = True
        finally:
            self._end()

    def ask(self, request: events.ReceivedRequest) -> None:
        """Answer a request at once if possible, also while an event waits for ZooKeeper; else queue it."""
        if not self._has_authority():
            request.reply(not_controller(request.request))
        elif not (self._has_begun and self._controller.answer_at_once(request)):
            self._push(request)

    def _has_authority(self) -> bool:
        """Return whether this controller may answer brokers.

        It may not after ZooKeeper has been silent for a session timeout: another controller may be elected by then, and
        brokers that are cut off together with this one must not be kept alive by it (D343-20). Only responses that the
        ZooKeeper leader has confirmed count, as a follower that is cut off still answers reads.
        """
        if self._is_over or self._zookeeper.session_id != self._session_id:
            return False
        return time.monotonic() - self._zookeeper.synced_at < self._zookeeper.session_timeout

    def _session_changed(self, state: SessionState) -> None:
        if state is SessionState.SUSPENDED:
            self._is_suspended = True
        elif state is SessionState.CONNECTED and self._zookeeper.session_id == self._session_id:
            self._push(events.Reconnection(time.monotonic()))

    async def _handle(self, event: events.Event) -> None:
        match event:
            case events.ReceivedRequest() if not self._has_authority():
                event.reply(not_controller(event.request))
                return
            case events.Tick():
                self._tick_is_queued = False
                if self._is_suspended:
                    return  # no broker is declared inactive meanwhile; Reconnection schedules the next Tick
            case events.Reconnection():
                self._is_suspended = self._zookeeper.state is not SessionState.CONNECTED
        await self._execution.run(self._controller.handle(event))
        self._channels.keep(self._controller.registered)
        for broker_id, request in self._controller.drain():
            self._channels.send(broker_id, cast("RequestMessage[Any]", request))
        self._set_timer()

    def _end(self) -> None:
        self._is_over = True
        self._zookeeper.listeners.remove(self._session_changed)
        self._zookeeper.forget(self._znode_changed)
        if self._timer is not None:
            self._timer.cancel()
        self._channels.close()
        while not self._queue.empty():
            event = self._queue.get_nowait()
            if isinstance(event, events.ReceivedRequest):
                event.reply(not_controller(event.request))
        last = self._controller.handle(events.Resignation())
        for _ in last:  # it may not write any more
            last.close()

    def _push(self, event: events.Event) -> None:
        if not self._is_over:
            self._queue.put_nowait(event)

    def _znode_changed(self, event: zk.WatchEvent) -> None:
        if event.kind is not zk.WatchKind.EXPIRED:
            self._push(events.ZnodeChange(event.path, time.monotonic()))

    def _broker_answered(self, broker_id: int, request: Message, response: Message) -> None:
        self._push(events.BrokerResponse(broker_id, request, response, time.monotonic()))

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self._controller.next_tick()
        if due is not None and not self._tick_is_queued:
            now = time.monotonic()
            due = max(due, now)
            if due < self._not_before:
                self._call_at(self._not_before, now, self._tick)
            else:
                self._call_at(due, now, self._tick_unless_late)

    def _call_at(self, due: float, now: float, tick: Callable[[float], None]) -> None:
        self._timer = asyncio.get_running_loop().call_later(due - now, tick, due)

    def _tick_unless_late(self, due: float) -> None:
        now = time.monotonic()
        if now - due > LATE:
            self._not_before = now + CATCH_UP
            self._call_at(self._not_before, now, self._tick)
        else:
            self._tick(due)

    def _tick(self, _: float) -> None:
        self._timer = None
        self._tick_is_queued = True
        self._push(events.Tick(time.monotonic()))
