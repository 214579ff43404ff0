"""A broker's connection to the active controller."""

from __future__ import annotations

import asyncio

from cluster_impl.config_values import Voter
from cluster_impl.designs.quorum.broker.finder import ControllerFinder
from cluster_impl.security.jaas import PlainLogin
from cluster_impl.wire.client import Connection
from cluster_impl.wire.codec import R, RequestMessage
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.registry import QUORUM_CONTROLLER


class ControllerLink:
    """One connection, opened when needed, to whoever the finder names; a request that fails closes it.

    It is closed as well when somebody finds another controller to be active: a request that waits for a deposed one
    fails then, in place of using up its time. Each purpose has a link of its own, so that a stalled request of one does
    not hold up another.
    """

    def __init__(
        self,
        finder: ControllerFinder,
        hosts: Hosts,
        client_id: str,
        connect_timeout: float,
        login: PlainLogin | None = None,
    ) -> None:
        self._finder = finder
        self._hosts = hosts
        self._client_id = client_id
        self._connect_timeout = connect_timeout
        self._login = login
        self._connection: Connection | None = None
        self._to: Voter | None = None
        self._opening = asyncio.Lock()
        finder.watchers.append(self._leave_unless)

    async def request(self, message: RequestMessage[R], version: int, timeout: float) -> tuple[int, R]:
        """Ask the candidate once; who answered, and what.

        Raises ConnectionError or TimeoutError (`timeout` in seconds, connecting included) with a sentence. Then the
        candidate is marked as failed, and the connection is closed: what it was still to answer is never read.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        connection: Connection | None = None
        candidate = self._finder.candidate()
        try:
            connection = await self._connect(candidate, timeout)
            remaining = max(0.001, deadline - asyncio.get_running_loop().time())
            return candidate.id, await connection.request(message, version, timeout=remaining)
        except (ConnectionError, TimeoutError):
            self._finder.failed(candidate.id)
            if connection is not None:
                connection.close()
            raise

    async def _connect(self, candidate: Voter, timeout: float) -> Connection:
        async with self._opening:
            if self._connection is not None and (self._to != candidate or self._connection.closed):
                self._connection.close()
                self._connection = None
            if self._connection is None:
                self._to = candidate
                self._connection = await Connection.open(
                    candidate.host,
                    candidate.port,
                    QUORUM_CONTROLLER,
                    self._client_id,
                    hosts=self._hosts,
                    timeout=min(timeout, self._connect_timeout),
                    login=self._login,
                )
                if self._finder.candidate() != candidate:
                    self.close()
                    raise ConnectionError(f"controller {candidate.id} was given up while it was connected to")
            return self._connection

    def _leave_unless(self, active: Voter) -> None:
        if self._to != active:
            self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
