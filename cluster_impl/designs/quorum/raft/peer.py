"""The connection from one controller to another."""

import logging
from collections.abc import Awaitable, Callable, Mapping

from fencepost.cluster_impl.designs.quorum.raft.messages import Request, Response
from fencepost.cluster_impl.designs.quorum.raft.translate import named_voters, read_response, request_message
from fencepost.cluster_impl.designs.quorum.raft.voters import Address
from fencepost.cluster_impl.wire.client import Connect, Connection
from fencepost.cluster_impl.wire.codec import Malformed, Message, R, RequestMessage
from fencepost.cluster_impl.wire.on_demand import OnDemandConnection

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
        connect: Connect,
        timeout: float,
        learned: Callable[[Mapping[int, Address]], None] = lambda _: None,
    ) -> None:
        self.node_id = node_id
        self._host, self._port = address
        self._connect = connect
        self._timeout = timeout
        self._learned = learned
        self._connection = OnDemandConnection[str]()
        self._silent = False

    async def ask(self, request: Request, sender: Address | None = None) -> Response:
        """Send a request and return its response; a leader announces its address, `sender`.

        Log when the peer stops answering and when it answers again.

        Raises ConnectionError, TimeoutError (after the request timeout, connecting included) or Malformed.
        """
        try:
            message: Message = await self.request(*request_message(request, self.node_id, sender))
            self._learned(named_voters(message))
            response = read_response(message)
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
            await self.request(*request_message(request, self.node_id))
        except (ConnectionError, TimeoutError):
            pass

    def close(self) -> None:
        self._connection.close()

    async def request(self, message: RequestMessage[R], version: int) -> R:
        """Send a request and return its response. Raises ConnectionError or TimeoutError."""
        target = f"controller {self.node_id}"
        return await self._connection.request(target, self._open, message, version, self._timeout)

    def _open(self) -> Awaitable[Connection]:
        return self._connect(self._host, self._port, self._timeout)


class PeerBook:
    """Connections to other controllers, made as they are needed, each at the newest known address.

    `timeout` is for each request, in seconds. `address_of` returns host and port of a controller, None if no address is
    known. `learned` is called with the addresses that responses name.
    """

    def __init__(
        self,
        connect: Connect,
        timeout: float,
        address_of: Callable[[int], Address | None],
        learned: Callable[[Mapping[int, Address]], None] = lambda _: None,
    ) -> None:
        self._connect = connect
        self._timeout = timeout
        self._address_of = address_of
        self._learned = learned
        self._peers: dict[int, tuple[Address, Peer]] = {}

    def peer(self, node_id: int) -> Peer:
        """Return the connection to a controller. Raises ConnectionError if its address is not known."""
        address = self._address_of(node_id)
        if address is None:
            raise ConnectionError(f"the address of controller {node_id} is not known")
        known = self._peers.get(node_id)
        if known is not None and known[0] == address:
            return known[1]
        if known is not None:
            known[1].close()
        peer = Peer(node_id, address, self._connect, self._timeout, self._learned)
        self._peers[node_id] = (address, peer)
        return peer

    def close(self) -> None:
        for _, peer in self._peers.values():
            peer.close()
