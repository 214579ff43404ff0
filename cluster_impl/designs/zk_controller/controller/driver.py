"""One term of a controller: events in a queue, handled one at a time; steps on ZooKeeper, requests to brokers.

003 runs the controller in one event thread. Here it is one task: it takes an event, runs the core's steps to their end,
and then hands on what the core has for the brokers. The term ends when the task does, whatever the reason.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from cluster_impl.coordination import znodes as zk
from cluster_impl.coordination.session_state import SessionState
from cluster_impl.coordination.steps import Steps
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.zk_controller.controller import events
from cluster_impl.designs.zk_controller.controller.channels import Answered, Channels
from cluster_impl.designs.zk_controller.controller.controller import Registration
from cluster_impl.designs.zk_controller.controller.elector import Elected
from cluster_impl.designs.zk_controller.controller.execution import GuardedExecution
from cluster_impl.designs.zk_controller.controller.refusals import not_controller
from cluster_impl.wire.codec import Message, RequestMessage

LATE = 0.1
CATCH_UP = 0.2
"""Seconds. A tick that comes this late says that the process stood still. It waits a little more then, until what the
brokers sent meanwhile has been read: a controller that was paused must not take its own silence for theirs."""


class Core(Protocol):
    """What `controller.Controller` is to its driver."""

    def handle(self, event: events.Event) -> Steps[None]: ...

    def at_once(self, asked: events.Asked) -> bool: ...

    @property
    def registered(self) -> Mapping[int, Registration]: ...

    def drain(self) -> Sequence[tuple[int, Message]]: ...

    def next_tick(self) -> float | None: ...


class Term:
    def __init__(
        self, core: Core, won: Elected, zookeeper: ZooKeeper, make_channels: Callable[[Answered], Channels]
    ) -> None:
        self.won = won
        self._core = core
        self._zookeeper = zookeeper
        self._session_id = zookeeper.session_id
        self._execution = GuardedExecution(zookeeper, won.epoch_version, self._znode_changed)
        self._channels = make_channels(self._broker_answered)
        self._queue: asyncio.Queue[events.Event] = asyncio.Queue()
        self._timer: asyncio.TimerHandle | None = None
        self._tick_is_queued = False
        self._not_before = -math.inf
        """When a tick may come at the earliest, since the process stood still."""
        self._has_begun = False
        self._is_suspended = False
        """Since the session was suspended, until the core has been told that it lives on."""
        self._is_over = False

    async def run(self) -> None:
        """Raises ControllerMoved, SessionExpired, or what the core died of; returns never."""
        self._push(events.Elected(self.won.epoch, time.monotonic()))
        self._zookeeper.listeners.append(self._session_changed)
        try:
            while True:
                await self._handle(await self._queue.get())
                self._has_begun = True
        finally:
            self._end()

    def ask(self, asked: events.Asked) -> None:
        """Answered here and now if it may be, also while an event waits for ZooKeeper; else in its turn."""
        if not self._has_authority():
            asked.reply(not_controller(asked.request))
        elif not (self._has_begun and self._core.at_once(asked)):
            self._push(asked)

    def _has_authority(self) -> bool:
        """Not once ZooKeeper has been silent for a session: another controller may be elected by then, and whoever is
        cut off together with this one must not be kept alive by it (D343-20). Only what the leader of the servers has
        confirmed counts: a follower that is cut off as well still answers reads."""
        if self._is_over or self._zookeeper.session_id != self._session_id:
            return False
        return time.monotonic() - self._zookeeper.synced_at < self._zookeeper.session_timeout

    def _session_changed(self, state: SessionState) -> None:
        if state is SessionState.SUSPENDED:
            self._is_suspended = True
        elif state is SessionState.CONNECTED and self._zookeeper.session_id == self._session_id:
            self._push(events.Reconnected(time.monotonic()))

    async def _handle(self, event: events.Event) -> None:
        match event:
            case events.Asked() if not self._has_authority():
                event.reply(not_controller(event.request))
                return
            case events.Tick():
                self._tick_is_queued = False
                if self._is_suspended:
                    return  # nobody is given up meanwhile; after Reconnected the time is looked at again
            case events.Reconnected():
                self._is_suspended = self._zookeeper.state is not SessionState.CONNECTED
        await self._execution.run(self._core.handle(event))
        self._channels.keep(self._core.registered)
        for broker_id, request in self._core.drain():
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
            if isinstance(event, events.Asked):
                event.reply(not_controller(event.request))
        last = self._core.handle(events.Resigned())
        for _ in last:  # it has nothing to write any more
            last.close()

    def _push(self, event: events.Event) -> None:
        if not self._is_over:
            self._queue.put_nowait(event)

    def _znode_changed(self, event: zk.WatchEvent) -> None:
        if event.kind is not zk.WatchKind.EXPIRED:
            self._push(events.ZnodeChanged(event.path, time.monotonic()))

    def _broker_answered(self, broker_id: int, request: Message, response: Message) -> None:
        self._push(events.BrokerAnswered(broker_id, request, response, time.monotonic()))

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self._core.next_tick()
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
