"""A broker's connection to the controller, which is another broker or this one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from fencepost.cluster_impl.coordination.errors import ConnectionLost, CoordinationError, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.replication.control_plane import ClusterView, Endpoint
from fencepost.cluster_impl.wire.client import Connect, Connection
from fencepost.cluster_impl.wire.codec import R, RequestMessage
from fencepost.cluster_impl.wire.on_demand import OnDemandConnection

log = logging.getLogger(__name__)

LOOKUP_S = 1.0
"""Seconds to wait for a broker's address from ZooKeeper before the last known one is tried."""
LOOKUP_SHARE = 0.25
"""The share of a request's timeout for that lookup; the rest is for the connection and the response."""


class BrokerAddresses:
    """The inter-broker addresses of brokers, from their znodes. A broker that has just started has no other source."""

    def __init__(self, zookeeper: ZooKeeper, listener: str, view: Callable[[], ClusterView]) -> None:
        self._zookeeper = zookeeper
        self._listener = listener
        self._view = view
        self._known: dict[int, Endpoint] = {}
        self._doubted: set[int] = set()
        self._lookups: dict[int, asyncio.Task[Endpoint | None]] = {}

    async def find(self, broker_id: int, timeout: float = LOOKUP_S) -> Endpoint:
        """Return a broker's address. Raises ConnectionError if it is unknown and ZooKeeper does not answer within
        `timeout` seconds.

        The lookup goes on after that, for the next request: a ZooKeeper may be slower than each of them can wait.
        """
        known = self._known.get(broker_id)
        if known is not None and broker_id not in self._doubted:
            return known
        try:
            found = await self._lookup(broker_id, timeout) or self._in_metadata(broker_id)
        except TimeoutError:
            return self._last_known(broker_id)
        if found is None:
            self._known.pop(broker_id, None)
            raise ConnectionError(f"the address of broker {broker_id} is unknown")
        self._known[broker_id] = found
        self._doubted.discard(broker_id)
        return found

    def doubt(self, broker_id: int) -> None:
        """Look up the address again next time: the broker could not be reached at the known one."""
        self._doubted.add(broker_id)
        lookup = self._lookups.get(broker_id)
        if lookup is not None and lookup.done():
            self._forget(broker_id, lookup)

    def _forget(self, broker_id: int, lookup: asyncio.Task[Endpoint | None]) -> None:
        if self._lookups.get(broker_id) is lookup:
            del self._lookups[broker_id]

    async def _lookup(self, broker_id: int, timeout: float) -> Endpoint | None:
        """Return the registered address, None if there is none. Raises TimeoutError if ZooKeeper does not answer."""
        lookup = self._lookups.get(broker_id)
        if lookup is None:
            lookup = self._lookups[broker_id] = asyncio.create_task(self._registered(broker_id))
            lookup.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        await asyncio.wait((lookup,), timeout=timeout)
        if not lookup.done():
            raise TimeoutError(f"ZooKeeper has not answered for broker {broker_id} within {timeout:g} s")
        self._forget(broker_id, lookup)
        try:
            return lookup.result()
        except (ConnectionLost, SessionExpired) as error:
            raise TimeoutError(str(error)) from error
        except (CoordinationError, MalformedZnode):
            return None

    async def _registered(self, broker_id: int) -> Endpoint | None:
        found = await self._zookeeper.get(znodes.broker(broker_id))
        at = znodes.read_broker(broker_id, found.data).endpoint(self._listener)
        return None if at is None else Endpoint(at.host, at.port)

    def _last_known(self, broker_id: int) -> Endpoint:
        """Return an address for one attempt; the next one asks ZooKeeper again."""
        found = self._in_metadata(broker_id) or self._known.get(broker_id)
        if found is None:
            raise ConnectionError(f"the address of broker {broker_id} is unknown")
        return found

    def _in_metadata(self, broker_id: int) -> Endpoint | None:
        broker = self._view().brokers.get(broker_id)
        return None if broker is None else broker.endpoints.get(self._listener)


class ControllerLink:
    """The connection to the broker that holds /controller, opened when needed.

    A failed request closes it. So a request that is repeated comes by a newer connection, and the controller can tell a
    late copy of it by the older one. The connection is closed as well when another broker becomes the controller, so
    that pending requests to the old one fail at once. Each purpose has a link of its own, so that a stalled request
    does not hold up another one.
    """

    def __init__(self, known_controller: Callable[[], int], addresses: BrokerAddresses, connect: Connect) -> None:
        self._known_controller = known_controller
        self._addresses = addresses
        self._connect = connect
        self._connection = OnDemandConnection[str]()

    async def request(self, message: RequestMessage[R], version: int, timeout: float) -> tuple[int, R]:
        """Ask the controller once; return its id and its response.

        Raises ConnectionError or TimeoutError (`timeout` in seconds, connecting included) with a message.
        """
        controller = self._known_controller()
        if controller < 0:
            raise ConnectionError("no controller is known")

        async def connect() -> Connection:
            endpoint = await self._addresses.find(controller, min(LOOKUP_S, timeout * LOOKUP_SHARE))
            connection = await self._connect(endpoint.host, endpoint.port, timeout)
            if self._known_controller() != controller:
                connection.close()
                raise ConnectionError(f"broker {controller} ceased to be the controller while it was connected to")
            return connection

        try:
            return controller, await self._connection.request(_name(controller), connect, message, version, timeout)
        except (ConnectionError, TimeoutError):
            # A proxy accepts connections for a process that is gone; the next one may listen elsewhere.
            self._addresses.doubt(controller)
            raise

    def mistaken(self, responder: int) -> None:
        """Look up the address again and close the connection: the broker that responded is not the controller.

        It may be another process with the controller's id, at another address.
        """
        self._addresses.doubt(responder)
        if self._connection.target == _name(responder):
            self.close()

    def controller_is(self, controller: int) -> None:
        """Close a connection to any other broker; -1, no known controller, leaves it open."""
        if controller >= 0:
            self._connection.close_unless(_name(controller))

    def close(self) -> None:
        self._connection.close()


def _name(broker_id: int) -> str:
    return f"broker {broker_id}"
