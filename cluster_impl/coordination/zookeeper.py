"""A client of ZooKeeper: operations, watches, and a session that is replaced by a new one when it expires."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Any, TypeVar

from kazoo.client import KazooClient

from fencepost.cluster_impl.coordination.errors import ConnectionLost, CoordinationError, NoNodeError, SessionExpired
from fencepost.cluster_impl.coordination.operations import Operations
from fencepost.cluster_impl.coordination.session import Receive, Send, Session
from fencepost.cluster_impl.coordination.session_state import Effect, SessionEvent, SessionState, after
from fencepost.cluster_impl.coordination.watches import ABSENT, Watched, WatchTable
from fencepost.cluster_impl.coordination.znodes import Watch, WatchEvent
from fencepost.cluster_impl.wire.hosts import Hosts

log = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""Limit for closing a session at the servers; without a connection the session expires by itself."""

T = TypeVar("T")
StateListener = Callable[[SessionState], None]


class ZooKeeper(Operations):
    """Every operation raises CoordinationError.

    An operation that was not sent, or was sent and is in doubt, raises ConnectionLost. Await `until_connected` before
    the next attempt, and compare `session_id`: the session may be another one.
    """

    def __init__(self, connect: str, session_timeout: float, hosts: Hosts, *, first: int = 0) -> None:
        """`connect`: host:port,... as in zookeeper.connect, with an optional path at the end that holds all znodes.

        `session_timeout` in seconds. The servers are tried in their order, from place `first` on (modulo their
        number), so that the nodes of a cluster can be spread over an ensemble predictably.
        """
        listed, _, chroot = connect.partition("/")
        names = [server.strip() for server in listed.split(",")]
        self._connect = connect
        self._servers = [_resolved(name, hosts) for name in names[first % len(names) :] + names[: first % len(names)]]
        self._chroot = f"/{chroot}" if chroot else ""
        self.session_timeout = session_timeout
        self._watches = WatchTable()
        self._session: Session | None = None
        self._until_connected: list[asyncio.Future[None]] = []
        self.operations = 0
        """The number of operations since the start."""
        self.state = SessionState.CONNECTING
        self.listeners: list[StateListener] = []
        """Called on the event loop with each new state."""

    @property
    def session_id(self) -> int:
        """The session's id, as in `Stat.ephemeral_owner`; 0 until the session is connected for the first time."""
        return self._session.id if self._session is not None else 0

    @property
    def confirmed_at(self) -> float:
        """The time at which the latest answered operation of the session was sent (seconds, monotonic); -inf for none.

        The servers keep the session and its ephemeral znodes for at least `session_timeout` after that, or for their
        own maximum if that is shorter.
        """
        return self._session.confirmed_at if self._session is not None else -math.inf

    @property
    def synced_at(self) -> float:
        """The time at which the latest answered `confirm` of this session was sent (seconds, monotonic), or -inf."""
        return self._session.synced_at if self._session is not None else -math.inf

    @property
    def watches(self) -> int:
        """The number of watches that this client holds."""
        return len(self._watches)

    async def start(self, timeout: float) -> None:
        """Open a session and wait until it is connected. Raises TimeoutError after `timeout` seconds."""
        self._open()
        try:
            async with asyncio.timeout(timeout):
                await self.until_connected()
        except TimeoutError as error:
            await self.close()
            raise TimeoutError(f"no ZooKeeper of {self._connect} gave a session within {timeout:g} s") from error

    async def close(self) -> None:
        """End the session; the servers delete its ephemeral znodes now if they can be reached."""
        if self.state is SessionState.CLOSED:
            return
        self._happened(SessionEvent.CLOSE)
        if self._session is not None:
            await asyncio.wait({self._session.end()}, timeout=CLOSE_SECONDS)

    async def until_connected(self) -> None:
        """Wait until a session is connected. Raises SessionExpired if this client was closed."""
        while self.state is not SessionState.CONNECTED:
            if self.state is SessionState.CLOSED:
                raise SessionExpired("the session was closed")
            connected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._until_connected.append(connected)
            await connected

    def forget(self, watch: Watch) -> None:
        """Call this watch no more."""
        self._watches.forget(watch)

    # The session

    def _submit(self, path: str, send: Send, receive: Receive, *, confirms: bool = False) -> asyncio.Future[Any]:
        self.operations += 1
        if self._session is not None and self.state is SessionState.CONNECTED:
            return self._session.submit(path, send, receive, confirms=confirms)
        refused: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        refused.set_exception(self._refusal(path))
        return refused

    def _refusal(self, path: str) -> CoordinationError:
        if self.state is SessionState.EXPIRED:
            return SessionExpired("the session expired, and the next one is not open yet", path)
        if self.state is SessionState.CLOSED:
            return SessionExpired("the session was closed", path)
        return ConnectionLost("there is no connection to ZooKeeper", path, in_doubt=False)

    def _open(self) -> None:
        self._session = Session(
            self._servers, self._chroot, self.session_timeout, self._session_changed, self._watch_fired
        )
        self._session.open()

    def _session_changed(self, session: Session, event: SessionEvent) -> None:
        if session is self._session:  # events of an earlier session concern no operation any more
            self._happened(event)

    def _happened(self, event: SessionEvent) -> None:
        transition = after(self.state, event)
        if transition is None:
            return
        self.state = transition.state
        log.info("ZooKeeper session %x: %s", self.session_id, self.state.value)
        for listener in list(self.listeners):
            _notify(listener, self.state)
        for effect in transition.effects:
            self._carry_out(effect)
        if transition.state in (SessionState.CONNECTED, SessionState.CLOSED):
            waiting, self._until_connected = self._until_connected, []
            for connected in waiting:
                if not connected.done():
                    connected.set_result(None)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Effect.REARM_WATCHES:
                for watched, path in self._watches.to_read_again():
                    self._rearm(watched, path)
            case Effect.END_WATCHES:
                for watch, event in self._watches.end():
                    _notify(watch, event)
            case Effect.END_SESSION:
                if self._session is not None:
                    self._session.end()
            case Effect.OPEN_SESSION:
                self._open()

    # Watches

    def _kazoo_watch(self, watch: Watch | None) -> Callable[[Any], None] | None:
        """Give kazoo one function for all watches, so that it keeps each path once; the table has the watches."""
        return self._session.watch if watch is not None and self._session is not None else None

    def _arm(self, watched: Watched, path: str, watch: Watch | None, seen: int) -> None:
        if watch is not None:
            self._watches.arm(watched, path, watch, seen)

    def _watch_fired(self, event: WatchEvent) -> None:
        for watch in self._watches.fired(event):
            _notify(watch, event)

    def _rearm(self, watched: Watched, path: str) -> None:
        def read_again(now: int) -> None:
            for watch, event in self._watches.read_again(watched, path, now):
                _notify(watch, event)

        def send(client: KazooClient) -> Any:
            kazoo_watch = self._session.watch if self._session is not None else None
            if watched is Watched.DATA:
                return client.exists_async(path, kazoo_watch)
            return client.get_children_async(path, kazoo_watch, include_data=True)

        def receive(answer: Any) -> None:
            if watched is Watched.DATA:
                read_again(answer.mzxid if answer is not None else ABSENT)
            else:
                read_again(answer[1].pzxid)

        def done(read: asyncio.Future[Any]) -> None:
            # Every other failure comes with a change of state, which sets the watches again or ends them.
            if not read.cancelled() and isinstance(read.exception(), NoNodeError):
                read_again(ABSENT)

        self._submit(path, send, receive).add_done_callback(done)


def _notify(listener: Callable[[T], None], news: T) -> None:
    """Call a listener; its exception must not keep the others uninformed, nor stop the session."""
    try:
        listener(news)
    except Exception:
        log.exception("a listener of the ZooKeeper session failed on %s", news)


def _resolved(server: str, hosts: Hosts) -> str:
    name, colon, port = server.rpartition(":")
    return f"{hosts.address(name)}:{port}" if colon else hosts.address(server)
