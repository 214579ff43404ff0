"""A broker's connection to the active controller."""

from __future__ import annotations

from fencepost.cluster_impl.config.values import Voter
from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.wire.client import Connect, Connection
from fencepost.cluster_impl.wire.codec import R, RequestMessage
from fencepost.cluster_impl.wire.on_demand import OnDemandConnection


class ActiveControllerLink:
    """A connection to the finder's candidate, opened when a request needs it and closed by a request that fails.

    It is also closed when any part of the broker learns that another controller is active, so a request that waits for
    a deposed controller fails at once. Each purpose has a link of its own, so that a stalled request of one purpose
    does not delay another. `connect_timeout` is in seconds.
    """

    def __init__(self, finder: ControllerFinder, connect: Connect, connect_timeout: float) -> None:
        self._finder = finder
        self._connect = connect
        self._connect_timeout = connect_timeout
        self._connection = OnDemandConnection[str]()
        finder.watchers.append(lambda active: self._connection.close_unless(_name(active)))

    async def request(self, message: RequestMessage[R], version: int, timeout: float) -> tuple[int, R]:
        """Send one request to the candidate; return the controller's id and its response.

        Raises ConnectionError, or TimeoutError after `timeout` seconds, connecting included; both with a message. Then
        the candidate is marked as failed, and the connection is closed: its late response is never read.
        """
        candidate = self._finder.candidate()
        try:
            response = await self._connection.request(
                _name(candidate), lambda: self._open(candidate, timeout), message, version, timeout
            )
        except (ConnectionError, TimeoutError):
            self._finder.failed(candidate.id)
            raise
        return candidate.id, response

    async def _open(self, candidate: Voter, timeout: float) -> Connection:
        connection = await self._connect(candidate.host, candidate.port, min(timeout, self._connect_timeout))
        if self._finder.candidate() != candidate:
            connection.close()
            raise ConnectionError(f"{_name(candidate)} was given up while the connection to it was opened")
        return connection

    def close(self) -> None:
        self._connection.close()


def _name(controller: Voter) -> str:
    return f"controller {controller.id}"
