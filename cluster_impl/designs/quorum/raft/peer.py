"""The connection from one controller to another."""

import logging

from fencepost.cluster_impl.config.quorum import QuorumConfig
from fencepost.cluster_impl.designs.quorum.raft.messages import Request, Response
from fencepost.cluster_impl.designs.quorum.raft.translate import read_response, request_message
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import Malformed, Message, R, RequestMessage
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.on_demand import OnDemandConnection
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from fencepost.cluster_impl.wire.sasl import PlainLogin

log = logging.getLogger(__name__)


class Peer:
    """Another voter, reached by a connection that is opened when a request needs it.

    `address` is host and port, `timeout` in seconds. A request that fails closes the connection, so its late response
    is never read.
    """

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
        self._connection = OnDemandConnection[str]()
        self._silent = False

    async def ask(self, request: Request) -> Response:
        """Send a request and return its response; log when the peer stops answering and when it answers again.

        Raises ConnectionError, TimeoutError (after the request timeout, connecting included) or Malformed.
        """
        try:
            response = read_response(await self._send(request))
        except (ConnectionError, TimeoutError, Malformed) as error:
            if not self._silent:
                log.warning("controller %d does not answer: %s", self.node_id, error)
            self._silent = True
            raise
        if self._silent:
            log.info("controller %d answers again", self.node_id)
        self._silent = False
        return response

    async def notify(self, request: Request) -> None:
        """Send a request and ignore its response and every failure."""
        try:
            await self._send(request)
        except (ConnectionError, TimeoutError):
            pass

    def close(self) -> None:
        self._connection.close()

    async def request(self, message: RequestMessage[R], version: int) -> R:
        """Send a request and return its response. Raises ConnectionError or TimeoutError."""
        target = f"controller {self.node_id}"
        return await self._connection.request(target, self._open, message, version, self._timeout)

    async def _send(self, request: Request) -> Message:
        response: Message = await self.request(*request_message(request, self.node_id))
        return response

    async def _open(self) -> Connection:
        return await Connection.open(
            self._host,
            self._port,
            QUORUM_CONTROLLER,
            self._client_id,
            hosts=self._hosts,
            timeout=self._timeout,
            login=self._login,
        )


def peers_of(node_id: int, config: QuorumConfig, hosts: Hosts, login: PlainLogin | None) -> dict[int, Peer]:
    """Return a connection from this controller to each other one, by its id."""
    return {
        peer_id: Peer(peer_id, address, hosts, f"controller-{node_id}", config.request_timeout, login)
        for peer_id, address in config.voter_addresses.items()
        if peer_id != node_id
    }
