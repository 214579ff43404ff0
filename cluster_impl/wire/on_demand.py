"""A connection that is opened when it is needed, and opened again when it is closed or its target has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import R, RequestMessage

Target = TypeVar("Target")

SHORTEST_WAIT = 0.001
"""Seconds for the response of a request whose time was used up by connecting."""


class OnDemandConnection(Generic[Target]):
    """At most one connection at a time, to one target: an endpoint, a broker id, a voter.

    Callers that overlap share the connection; while one opens it, the others wait. The caller gives the function that
    opens a connection to the target, so what has to be looked up or checked for it stays with the caller.
    """

    def __init__(self) -> None:
        self.target: Target | None = None
        """The target of the newest connection, also after it was closed."""
        self._connection: Connection | None = None
        self._opening = asyncio.Lock()

    async def to(self, target: Target, open_connection: Callable[[], Awaitable[Connection]]) -> Connection:
        """Return an open connection to the target, and close one to another target. Raises as `open_connection`."""
        async with self._opening:
            if self._connection is not None and (self.target != target or self._connection.closed):
                self.close()
            if self._connection is None:
                self.target = target
                self._connection = await open_connection()
            return self._connection

    async def request(
        self,
        target: Target,
        open_connection: Callable[[], Awaitable[Connection]],
        message: RequestMessage[R],
        version: int,
        timeout: float,
    ) -> R:
        """Send one request to the target and return its response; close the connection if that fails.

        The response to a request that failed is therefore never read, and the request that repeats it arrives by a
        newer connection.

        Raises ConnectionError, or TimeoutError after `timeout` seconds, connecting included; both with a message.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        connection = await self._to_within(target, open_connection, timeout)
        remaining = max(SHORTEST_WAIT, deadline - asyncio.get_running_loop().time())
        try:
            return await connection.request(message, version, timeout=remaining)
        except (ConnectionError, TimeoutError):
            connection.close()
            raise

    async def _to_within(
        self, target: Target, open_connection: Callable[[], Awaitable[Connection]], timeout: float
    ) -> Connection:
        """Limit the wait for another caller as well, which may be opening the connection with a longer timeout."""
        limit = asyncio.timeout(timeout)
        try:
            async with limit:
                return await self.to(target, open_connection)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutError(f"{target} was not connected to within {timeout:g} s") from error

    def close_unless(self, target: Target) -> None:
        """Close a connection to any other target, so that its pending requests fail at once."""
        if self.target != target:
            self.close()

    def close(self) -> None:
        """Close the connection, if there is one; its pending requests raise ConnectionError."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
