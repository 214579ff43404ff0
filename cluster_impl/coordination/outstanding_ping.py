"""The timeout of a ZooKeeper server that does not answer a ping."""

from __future__ import annotations

import time
from collections.abc import Callable


class OutstandingPing:
    """Stands in for kazoo's mark of an unanswered ping, and is set once the server has been silent for too long.

    kazoo ends a connection as soon as the next ping would be due, at times 0.1 s after the last one. A server further
    away than that then answers no session for long enough. As in the Java client, a connection ends after two thirds of
    the session without any byte; a ping has one third at least, also if a busy process has sent it late.
    """

    def __init__(self, session_timeout: float, now: Callable[[], float] = time.monotonic) -> None:
        """`session_timeout` in seconds; `now` in seconds of the monotonic clock."""
        self._silence = session_timeout * 2 / 3
        self._after_ping = session_timeout / 3
        self._now = now
        self._heard_at = now()
        self._sent_at: float | None = None

    def heard(self) -> None:
        """Note that the server has sent something."""
        self._heard_at = self._now()

    def set(self) -> None:
        """Note that a ping is sent; an earlier one that is not answered counts."""
        if self._sent_at is None:
            self._sent_at = self._now()

    def clear(self) -> None:
        """Note that the ping is answered, or that the connection is another one."""
        self._sent_at = None

    def is_set(self) -> bool:
        """Return whether the connection has to be ended."""
        left = self.left()
        return left is not None and left <= 0

    def left(self) -> float | None:
        """Return in how many seconds the connection has to be ended; None if no ping is unanswered."""
        if self._sent_at is None:
            return None
        return max(self._heard_at + self._silence, self._sent_at + self._after_ping) - self._now()
