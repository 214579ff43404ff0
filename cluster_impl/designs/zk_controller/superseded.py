"""Late copies of requests that were repeated, told by the connection that they come by."""

from __future__ import annotations


class SupersededConnections:
    """Tells the copy of an earlier attempt from a request, by the connection that it comes by.

    Whoever is not answered in time closes the connection and repeats the request over another. The first copy may lie
    in the network still, and arrive when later requests have been carried out. Requests of one connection arrive in
    their order; so what comes by a connection that was accepted before the last one that its sender used is a late
    copy.

    A sender is an id with the epoch that makes it one process, or one term of it. This outlives the terms of a
    controller, since its connections do.
    """

    def __init__(self) -> None:
        self._newest: dict[tuple[int, int], int] = {}

    def is_superseded(self, sender: tuple[int, int], connection: int) -> bool:
        """Note a request; True if it must not be looked at. `connection` counts the accepted ones."""
        newest = self._newest.setdefault(sender, connection)
        self._newest[sender] = max(newest, connection)
        return connection < newest
