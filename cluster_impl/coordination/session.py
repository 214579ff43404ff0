"""One session of ZooKeeper: a kazoo client from its start to the end of its session, never longer.

Another session has another object, so no operation of one session is sent in the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kazoo import exceptions as k
from kazoo.client import KazooClient
from kazoo.protocol.states import KazooState
from kazoo.retry import KazooRetry

from fencepost.cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from fencepost.cluster_impl.coordination.loop_handler import LoopHandler
from fencepost.cluster_impl.coordination.outstanding_ping import OutstandingPing
from fencepost.cluster_impl.coordination.session_state import SessionEvent
from fencepost.cluster_impl.coordination.translation import failure, watch_event
from fencepost.cluster_impl.coordination.znodes import WatchEvent

MAX_IN_FLIGHT = 128
"""Limit of unanswered operations in kazoo. kazoo wakes its thread by one byte for each through a socket pair; the event
loop would block once that is full (at about 270)."""

_RECONNECT_DELAY = 0.05
_MAX_RECONNECT_DELAY = 0.25

# kazoo warns at every attempt to connect, several times a second while no server is up; this package logs the states.
logging.getLogger("kazoo").setLevel(logging.ERROR)

Send = Callable[[KazooClient], Any]
"""Starts an operation and returns kazoo's result, which will hold the answer."""
Receive = Callable[[Any], Any]
"""Turns kazoo's answer into the result for the caller; called on the loop, in the order of the server's messages."""


@dataclass(slots=True, eq=False)
class _Waiting:
    path: str
    send: Send
    receive: Receive
    answer: asyncio.Future[Any]
    confirms: bool = False
    sent_at: float = 0.0


class Session:
    def __init__(
        self,
        servers: Sequence[str],
        chroot: str,
        timeout: float,
        changed: Callable[[Session, SessionEvent], None],
        fired: Callable[[WatchEvent], None],
    ) -> None:
        """`servers` as address:port, tried in order; `timeout` in seconds. The callbacks are called on the loop."""
        self.id = 0
        """0 until the session was connected for the first time."""
        self.confirmed_at = -math.inf
        """The time at which the latest answered operation was sent (seconds, monotonic): the session lasts for at least
        its timeout from then on."""
        self.synced_at = -math.inf
        """The same for the latest operation that confirms the session."""
        self._loop = asyncio.get_running_loop()
        self._changed = changed
        self._fired = fired
        self._in_flight: dict[_Waiting, None] = {}
        """In the order in which kazoo got them."""
        self._waiting: deque[_Waiting] = deque()
        self._ended: asyncio.Future[None] | None = None
        # As in the Java client: a server that does not answer must leave time for the others before the session ends.
        ping = OutstandingPing(timeout)
        self._handler = LoopHandler(timeout / max(2, len(servers)), ping, self._loop.call_soon)
        self._client = KazooClient(
            hosts=",".join(servers) + chroot,
            timeout=timeout,
            handler=self._handler,
            randomize_hosts=False,
            connection_retry=KazooRetry(
                max_tries=-1, delay=_RECONNECT_DELAY, backoff=1.5, max_delay=_MAX_RECONNECT_DELAY, max_jitter=0.3
            ),
        )
        self._client._connection.ping_outstanding = ping  # kazoo has no parameter for it
        self._client.add_listener(self._listen)

    def open(self) -> None:
        self._client.start_async()

    def end(self) -> asyncio.Future[None]:
        """End the session at the servers if it is connected; the future is done when its thread has ended."""
        if self._ended is None:
            self._ended = self._loop.create_future()
            threading.Thread(target=self._stop, args=(self._ended,), name="zookeeper-end", daemon=True).start()
        return self._ended

    def _stop(self, ended: asyncio.Future[None]) -> None:
        """Stop kazoo in a thread of its own, since it blocks meanwhile."""
        with contextlib.suppress(Exception):  # a thread that does not stop is a daemon, and ends with the process
            self._client.stop()
            self._client.close()
        self._hand_over(ended.set_result, None)

    def watch(self, event: Any) -> None:
        """Receive kazoo's watch events of every read, in the connection's thread."""
        found = watch_event(event)
        if found is not None:  # kazoo also reports each lost connection
            self._hand_over_after_answers(self._fired, found)

    def submit(self, path: str, send: Send, receive: Receive, *, confirms: bool = False) -> asyncio.Future[Any]:
        """Send an operation, in order and pipelined; one that `confirms` the session goes in front of all unsent ones.

        The future raises CoordinationError, or the exception of an operation that kazoo cannot encode or read.
        """
        waiting = _Waiting(path, send, receive, self._loop.create_future(), confirms)
        if confirms:
            self._waiting.appendleft(waiting)
        else:
            self._waiting.append(waiting)
        self._pump()
        return waiting.answer

    def _pump(self) -> None:
        while self._waiting and len(self._in_flight) < MAX_IN_FLIGHT:
            operation = self._waiting.popleft()
            if operation.answer.done():  # cancelled before it was sent
                continue
            sent_at = time.monotonic()
            try:
                result = operation.send(self._client)
            except Exception as error:  # kazoo cannot encode it
                operation.answer.set_exception(error)
                continue
            self._in_flight[operation] = None
            operation.sent_at = sent_at
            result.rawlink(partial(self._hand_over, self._answered, operation))

    def _answered(self, operation: _Waiting, result: Any) -> None:
        del self._in_flight[operation]
        error = result.exception
        failed = failure(error, operation.path) if error is not None else None
        if not isinstance(failed, (ConnectionLost, SessionExpired)):
            self.confirmed_at = max(self.confirmed_at, operation.sent_at)
            if operation.confirms:
                self.synced_at = max(self.synced_at, operation.sent_at)
        if not operation.answer.done():  # a cancelled one sets no watch
            try:
                if failed is not None:
                    raise failed
                operation.answer.set_result(operation.receive(result.value))
            except Exception as raised:
                operation.answer.set_exception(raised)
        if isinstance(error, (k.ConnectionLoss, k.SessionExpiredError)):
            self._refuse_waiting(error)
        self._pump()

    def _refuse_waiting(self, error: Exception) -> None:
        """Refuse the unsent operations behind one that was lost: they may depend on it."""
        while self._waiting:
            operation = self._waiting.popleft()
            if operation.answer.done():
                continue
            refusal = (
                SessionExpired("the session expired", operation.path)
                if isinstance(error, k.SessionExpiredError)
                else ConnectionLost("the connection to ZooKeeper is lost", operation.path, in_doubt=False)
            )
            operation.answer.set_exception(refusal)

    def _listen(self, state: str) -> None:
        """Receive kazoo's session states, in the connection's thread."""
        if state == KazooState.CONNECTED:
            self._hand_over_after_answers(self._connected, self._client.client_id[0])
        elif state == KazooState.SUSPENDED:
            self._hand_over_after_answers(self._lost, SessionEvent.DISCONNECTED, k.ConnectionLoss())
        else:
            self._handler.session_is_over = True
            self._hand_over_after_answers(self._lost, SessionEvent.EXPIRED, k.SessionExpiredError())

    def _lost(self, event: SessionEvent, error: Exception) -> None:
        """Refuse all that is not answered.

        kazoo answers what it has when it loses the connection. What it gets between that and this call, it keeps for
        the next connection, which may never come.
        """
        for operation in self._in_flight:
            if not operation.answer.done():
                operation.answer.set_exception(failure(error, operation.path))
        self._refuse_waiting(error)
        self._changed(self, event)

    def _connected(self, session_id: int) -> None:
        self.id = session_id
        self._changed(self, SessionEvent.CONNECTED)

    def _hand_over_after_answers(self, call: Callable[..., object], *arguments: Any) -> None:
        """Call this on the loop one turn later than an answer.

        A read may have been answered before `_pump` could link its result, which is handed over when `_pump` goes on. A
        watch event that came before that would find no watch in the table.
        """
        self._hand_over(self._loop.call_soon, call, *arguments)

    def _hand_over(self, call: Callable[..., object], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and no caller waits
            self._loop.call_soon_threadsafe(call, *arguments)
