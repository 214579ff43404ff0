"""Detection of late copies of repeated requests by the connection on which they arrive."""

from __future__ import annotations


class SupersededConnections:
    """Recognises the copy of an earlier attempt by its connection.

    A sender that gets no response in time closes the connection and repeats the request on another one. The first copy
    may still be in the network and arrive after later requests were carried out. Requests on one connection arrive in
    order, so a request on a connection that was accepted before the newest one of its sender is a late copy.

    A sender is an id with the epoch that makes it one process, or one term of it. The record outlives the terms of a
    controller, as its connections do.
    """

    def __init__(self) -> None:
        self._newest: dict[tuple[int, int], int] = {}

    def is_superseded(self, sender: tuple[int, int], connection: int) -> bool:
        """Record a request; return True if it is a late copy. `connection` is the number of the accepted connection."""
        newest = self._newest.setdefault(sender, connection)
        self._newest[sender] = max(newest, connection)
        return connection < newest
