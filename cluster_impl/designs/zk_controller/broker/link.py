"""A broker's connection to the controller, which is another broker, or this one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from cluster_impl.coordination.errors import ConnectionLost, CoordinationError, SessionExpired
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller.channels import Connect
from cluster_impl.replication.control_plane import ClusterView, Endpoint
from cluster_impl.wire.client import Connection
from cluster_impl.wire.codec import R, RequestMessage

log = logging.getLogger(__name__)

LOOKUP = 1.0
"""Seconds for which ZooKeeper is asked where a broker is, before what was known is tried."""
LOOKUP_SHARE = 0.25
"""Of the time that a request has: what is left must do for the connection and the answer."""


class BrokerAddresses:
    """Where brokers listen for one another. A broker that has just started knows it from their znodes only."""

    def __init__(self, zookeeper: ZooKeeper, listener: str, view: Callable[[], ClusterView]) -> None:
        self._zookeeper = zookeeper
        self._listener = listener
        self._view = view
        self._known: dict[int, Endpoint] = {}
        self._doubted: set[int] = set()

    async def find(self, broker_id: int, patience: float = LOOKUP) -> Endpoint:
        """Raises ConnectionError if nobody knows, or ZooKeeper does not say it within `patience` seconds."""
        known = self._known.get(broker_id)
        if known is not None and broker_id not in self._doubted:
            return known
        try:
            found = await self._registered(broker_id, patience) or self._in_metadata(broker_id)
        except TimeoutError:
            return self._last_known(broker_id)
        if found is None:
            self._known.pop(broker_id, None)
            raise ConnectionError(f"nobody knows where broker {broker_id} listens")
        self._known[broker_id] = found
        self._doubted.discard(broker_id)
        return found

    def doubt(self, broker_id: int) -> None:
        """It could not be reached where it was looked for: look again next time, as far as ZooKeeper answers."""
        self._doubted.add(broker_id)

    async def _registered(self, broker_id: int, patience: float) -> Endpoint | None:
        """Raises TimeoutError without an answer."""
        try:
            async with asyncio.timeout(patience):
                found = await self._zookeeper.get(znodes.broker(broker_id))
            at = znodes.read_broker(broker_id, found.data).endpoint(self._listener)
        except (ConnectionLost, SessionExpired) as error:
            raise TimeoutError(str(error)) from error
        except (CoordinationError, MalformedZnode):
            return None
        return None if at is None else Endpoint(at.host, at.port)

    def _last_known(self, broker_id: int) -> Endpoint:
        """For one attempt: it is looked for again as long as ZooKeeper has not said where it is."""
        found = self._in_metadata(broker_id) or self._known.get(broker_id)
        if found is None:
            raise ConnectionError(f"nobody knows where broker {broker_id} listens")
        return found

    def _in_metadata(self, broker_id: int) -> Endpoint | None:
        broker = self._view().brokers.get(broker_id)
        return None if broker is None else broker.endpoints.get(self._listener)


class ControllerLink:
    """One connection, opened when needed, to the broker that holds /controller; a request that fails closes it.

    So a request that was given up and is asked again comes by a newer connection, and the controller can tell a late
    copy of it by the older one. When another broker becomes controller the connection is closed as well: what waits
    for the old one fails then, in place of using up its time. Each purpose has a link of its own, so that a stalled
    request of one does not hold up another.
    """

    def __init__(self, known_controller: Callable[[], int], addresses: BrokerAddresses, connect: Connect) -> None:
        self._known_controller = known_controller
        self._addresses = addresses
        self._connect_to = connect
        self._connection: Connection | None = None
        self._to = -1
        self._opening = asyncio.Lock()

    async def request(self, message: RequestMessage[R], version: int, timeout: float) -> tuple[int, R]:
        """Ask the controller once; who answered, and what.

        Raises ConnectionError or TimeoutError (`timeout` in seconds, connecting included) with a sentence.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        connection: Connection | None = None
        controller = self._known_controller()
        if controller < 0:
            raise ConnectionError("no controller is known")
        try:
            connection = await self._connect_by(deadline, controller, timeout)
            remaining = max(0.001, deadline - asyncio.get_running_loop().time())
            return controller, await connection.request(message, version, timeout=remaining)
        except (ConnectionError, TimeoutError):
            if connection is not None:
                connection.close()
            self._addresses.doubt(controller)  # a proxy accepts for a process that is gone; its successor is elsewhere
            raise

    def mistaken(self, asked: int) -> None:
        """Who answered is not the controller: maybe another process of the controller's id, at another address."""
        self._addresses.doubt(asked)
        if asked == self._to:
            self.close()

    async def _connect_by(self, deadline: float, controller: int, timeout: float) -> Connection:
        """Another request may be connecting already, and have more time."""
        try:
            async with asyncio.timeout_at(deadline):
                return await self._connect(controller, timeout)
        except TimeoutError as error:
            raise TimeoutError(f"broker {controller} was not connected to within {timeout:g} s") from error

    async def _connect(self, controller: int, timeout: float) -> Connection:
        async with self._opening:
            if self._connection is not None and (self._to != controller or self._connection.closed):
                self._connection.close()
                self._connection = None
            if self._connection is None:
                self._to = controller
                endpoint = await self._addresses.find(controller, min(LOOKUP, timeout * LOOKUP_SHARE))
                self._connection = await self._connect_to(endpoint.host, endpoint.port, timeout)
                if self._known_controller() != controller:
                    self.close()
                    raise ConnectionError(f"broker {controller} ceased to be the controller while it was connected to")
            return self._connection

    def controller_is(self, controller: int) -> None:
        """Leave whoever is not the controller any more."""
        if controller >= 0 and self._to != controller:
            self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
