"""One session of ZooKeeper: kazoo's client from its start to the end of its session, never longer.

A session that expired is not continued by the same object, so no operation that was meant for one session is sent in
the next.
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

from cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from cluster_impl.coordination.loop_handler import LoopHandler
from cluster_impl.coordination.session_state import SessionEvent
from cluster_impl.coordination.translation import failure, watch_event
from cluster_impl.coordination.znodes import WatchEvent

MAX_IN_FLIGHT = 128
"""Operations handed to kazoo and unanswered. It wakes its thread by a byte for each through a socket pair, and the
loop would stand still once that is full (at about 270)."""

_RECONNECT_DELAY = 0.05
_MAX_RECONNECT_DELAY = 0.25

# It warns of every attempt to connect, several a second while no server is there; each change of state is logged here.
logging.getLogger("kazoo").setLevel(logging.ERROR)

Send = Callable[[KazooClient], Any]
"""Starts an operation; gives kazoo's result that will hold the answer."""
Receive = Callable[[Any], Any]
"""Called on the loop, in the order of the server's messages: makes of kazoo's answer what the caller gets."""


@dataclass(slots=True)
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
        """Known once it was connected."""
        self.confirmed_at = -math.inf
        """When the latest operation that the servers answered was sent (seconds, monotonic): the session cannot have
        ended earlier than its timeout after that."""
        self.synced_at = -math.inf
        """The same of the latest that was submitted to confirm the session."""
        self._loop = asyncio.get_running_loop()
        self._changed = changed
        self._fired = fired
        self._in_flight = 0
        self._waiting: deque[_Waiting] = deque()
        self._ended: asyncio.Future[None] | None = None
        # As the Java client: a server that does not answer must leave time for the others before the session ends.
        self._handler = LoopHandler(timeout / max(2, len(servers)), self._loop.call_soon)
        self._client = KazooClient(
            hosts=",".join(servers) + chroot,
            timeout=timeout,
            handler=self._handler,
            randomize_hosts=False,
            connection_retry=KazooRetry(
                max_tries=-1, delay=_RECONNECT_DELAY, backoff=1.5, max_delay=_MAX_RECONNECT_DELAY, max_jitter=0.3
            ),
        )
        self._client.add_listener(self._listen)

    def open(self) -> None:
        self._client.start_async()

    def end(self) -> asyncio.Future[None]:
        """Ends the session at the servers if it is connected; the future tells when its thread is gone."""
        if self._ended is None:
            self._ended = self._loop.create_future()
            threading.Thread(target=self._stop, args=(self._ended,), name="zookeeper-end", daemon=True).start()
        return self._ended

    def _stop(self, ended: asyncio.Future[None]) -> None:
        """Kazoo blocks while it stops, so this has a thread of its own."""
        with contextlib.suppress(Exception):  # a thread that will not stop is a daemon, and goes with the process
            self._client.stop()
            self._client.close()
        self._hand_over(ended.set_result, None)

    def watch(self, event: Any) -> None:
        """Given to kazoo as the watch of every read. Called in the connection's thread."""
        told = watch_event(event)
        if told is not None:  # kazoo also tells of each lost connection
            self._hand_over_after_answers(self._fired, told)

    def submit(self, path: str, send: Send, receive: Receive, *, confirms: bool = False) -> asyncio.Future[Any]:
        """In order, pipelined. The future raises CoordinationError, or what this side could not encode or read.

        What `confirms` the session goes before everything that was not sent yet.
        """
        waiting = _Waiting(path, send, receive, self._loop.create_future(), confirms)
        if confirms:
            self._waiting.appendleft(waiting)
        else:
            self._waiting.append(waiting)
        self._pump()
        return waiting.answer

    def _pump(self) -> None:
        while self._waiting and self._in_flight < MAX_IN_FLIGHT:
            operation = self._waiting.popleft()
            if operation.answer.done():  # whoever asked has left, and nothing was sent
                continue
            sent_at = time.monotonic()
            try:
                result = operation.send(self._client)
            except Exception as error:  # what kazoo cannot encode
                operation.answer.set_exception(error)
                continue
            self._in_flight += 1
            operation.sent_at = sent_at
            result.rawlink(partial(self._hand_over, self._answered, operation))

    def _answered(self, operation: _Waiting, result: Any) -> None:
        self._in_flight -= 1
        error = result.exception
        failed = failure(error, operation.path) if error is not None else None
        if not isinstance(failed, (ConnectionLost, SessionExpired)):
            self.confirmed_at = max(self.confirmed_at, operation.sent_at)
            if operation.confirms:
                self.synced_at = max(self.synced_at, operation.sent_at)
        if not operation.answer.done():  # else whoever asked has left, and watches nothing
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
        """What follows something that was lost is not sent on its own."""
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
        """Called in the connection's thread."""
        if state == KazooState.CONNECTED:
            self._hand_over_after_answers(self._connected, self._client.client_id[0])
        elif state == KazooState.SUSPENDED:
            self._hand_over_after_answers(self._changed, self, SessionEvent.DISCONNECTED)
        else:
            self._handler.session_is_over = True
            self._hand_over_after_answers(self._changed, self, SessionEvent.EXPIRED)

    def _connected(self, session_id: int) -> None:
        self.id = session_id
        self._changed(self, SessionEvent.CONNECTED)

    def _hand_over_after_answers(self, call: Callable[..., object], *arguments: Any) -> None:
        """One turn of the loop later: a read may have been answered before `_pump` could link its result, and is handed
        over only when `_pump` goes on. A watch that was told before that would find nobody who watches."""
        self._hand_over(self._loop.call_soon, call, *arguments)

    def _hand_over(self, call: Callable[..., object], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(call, *arguments)
