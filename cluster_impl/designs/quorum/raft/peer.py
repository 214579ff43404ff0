"""The connection to another controller, opened when it is needed."""

import asyncio
import logging

from cluster_impl.designs.quorum.raft.messages import Request, Response
from cluster_impl.designs.quorum.raft.translate import read_response, request_message
from cluster_impl.security.jaas import PlainLogin
from cluster_impl.wire.client import Connection
from cluster_impl.wire.codec import Malformed, Message
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.registry import QUORUM_CONTROLLER

log = logging.getLogger(__name__)


class Peer:
    """A request that fails closes the connection: what it was still to answer is never read."""

    def __init__(
        self,
        node_id: int,
        address: tuple[str, int],
        hosts: Hosts,
        client_id: str,
        timeout: float,
        login: PlainLogin | None,
    ) -> None:
        self.node_id = node_id
        self._host, self._port = address
        self._hosts = hosts
        self._client_id = client_id
        self._timeout = timeout
        self._login = login
        self._connection: Connection | None = None
        self._silent = False
        self._opening = asyncio.Lock()

    async def ask(self, request: Request) -> Response:
        """Raises ConnectionError, TimeoutError (after the request timeout, connecting included) or Malformed."""
        try:
            response = read_response(await self._ask(request))
        except (ConnectionError, TimeoutError, Malformed) as error:
            if not self._silent:
                log.warning("controller %d does not answer: %s", self.node_id, error)
            self._silent = True
            raise
        if self._silent:
            log.info("controller %d answers again", self.node_id)
        self._silent = False
        return response

    async def tell(self, request: Request) -> None:
        """Send, and do not care."""
        try:
            await self._ask(request)
        except (ConnectionError, TimeoutError):
            pass

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _ask(self, request: Request) -> Message:
        message, version = request_message(request, self.node_id)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeout
        connection = await self._connect()
        try:
            answer: Message = await connection.request(message, version, timeout=max(0.0, deadline - loop.time()))
        except (ConnectionError, TimeoutError):
            connection.close()
            raise
        return answer

    async def _connect(self) -> Connection:
        async with self._opening:
            if self._connection is None or self._connection.closed:
                self._connection = await Connection.open(
                    self._host,
                    self._port,
                    QUORUM_CONTROLLER,
                    self._client_id,
                    hosts=self._hosts,
                    timeout=self._timeout,
                    login=self._login,
                )
            return self._connection
