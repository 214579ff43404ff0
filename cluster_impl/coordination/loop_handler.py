"""kazoo's handler interface for an event loop: one thread for the connection, and no other."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler

from fencepost.cluster_impl.coordination.outstanding_ping import OutstandingPing

Soon = Callable[[Callable[[], object]], object]


class _Wakeups(socket.socket):
    """The socket that wakes kazoo's thread by one byte for each operation; it never blocks the loop.

    The thread reads the bytes only while it is connected, so they accumulate where connections break repeatedly. A byte
    that a full buffer refuses is not needed: the buffer has more bytes than operations may be in flight.
    """

    def __init__(self, fileno: int, soon: Soon | None) -> None:
        """With `soon`, send the bytes of one turn of the loop together: each call yields the interpreter's lock to the
        thread, and the loop has to wait for it."""
        super().__init__(fileno=fileno)
        self.setblocking(False)
        self._soon = soon
        self._owed = 0

    def send(self, data: Any, flags: int = 0) -> int:
        if self._soon is None or threading.current_thread() is not threading.main_thread():
            return self._send(data, flags)
        self._owed += len(data)
        if self._owed == len(data):
            self._soon(self._send_owed)
        return len(data)

    def _send_owed(self) -> None:
        owed, self._owed = self._owed, 0
        with contextlib.suppress(OSError):  # the socket is closed, and the session is over
            self._send(b"\0" * owed)

    def _send(self, data: Any, flags: int = 0) -> int:
        try:
            return super().send(data, flags)
        except BlockingIOError:
            return len(data)


class LoopHandler(SequentialThreadingHandler):  # type: ignore[misc]
    """Runs callbacks at once in the connection's thread, in the order of the server's messages.

    kazoo's own handler gives watch events and answers to two threads, where they can overtake each other. The
    callbacks of this package only hand over to the loop, so the order stays.
    """

    def __init__(self, connect_timeout: float, ping: OutstandingPing, soon: Soon | None = None) -> None:
        """`ping` is notified of what the server sends; `soon` calls a function in the next turn of the main loop."""
        super().__init__()
        self._soon = soon
        self._ping = ping
        self._wakeups: socket.socket | None = None
        self.session_is_over = False
        """Set to refuse new connections: kazoo would open another session after an expiry."""
        self._connect_timeout = connect_timeout

    @property
    def running(self) -> bool:
        """False: kazoo then calls callbacks itself, and does not queue them for the worker threads of the handler."""
        return False

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def dispatch_callback(self, callback: Any) -> None:
        callback.func(*callback.args)

    def spawn(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> Any:
        thread = super().spawn(func, *args, **kwargs)
        thread.name = "zookeeper"
        return thread

    def create_socket_pair(self) -> tuple[socket.socket, socket.socket]:
        reader, writer = socket.socketpair()
        self._wakeups = reader
        return reader, _Wakeups(writer.detach(), self._soon)

    def create_connection(self, address: tuple[str, int], timeout: float, **_: Any) -> socket.socket:
        if self.session_is_over:
            raise ConnectionRefusedError("the session is over")
        connection: socket.socket = super().create_connection(
            address=address, timeout=min(timeout, self._connect_timeout)
        )
        return connection

    def select(
        self,
        readers: Sequence[socket.socket],
        writers: Sequence[socket.socket],
        _: Sequence[socket.socket],
        timeout: float | None = None,
    ) -> tuple[list[socket.socket], list[socket.socket], list[socket.socket]]:
        """Wait by poll: kazoo's own method takes five system calls, and is called twice for each operation.

        Return in time to end a connection whose ping is not answered.
        """
        left = self._ping.left() if self._wakeups in readers else None
        if left is not None:
            timeout = max(0.0, left if timeout is None else min(left, timeout))
        by_number = {sock.fileno(): sock for sock in (*readers, *writers)}
        poll = select.poll()
        for sock in readers:
            poll.register(sock, select.POLLIN)
        for sock in writers:
            poll.register(sock, select.POLLOUT)
        ready = [by_number[number] for number, _ in poll.poll(None if timeout is None else timeout * 1000)]
        readable = [sock for sock in ready if sock in readers]
        if any(sock is not self._wakeups for sock in readable):
            self._ping.heard()
        return readable, [sock for sock in ready if sock in writers], []
