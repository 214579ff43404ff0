"""The errors of operations on ZooKeeper."""

from __future__ import annotations


class CoordinationError(Exception):
    """An operation that failed. `path`: the znode that it concerns; `index`: its place in the multi."""

    def __init__(self, message: str, path: str = "", index: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.index = index


class NoNodeError(CoordinationError):
    """There is no such znode, or (for a create) no parent."""


class NodeExistsError(CoordinationError):
    """The znode to be created exists already."""


class BadVersionError(CoordinationError):
    """The compare-and-set lost: the znode has another version than the given one."""


class NotEmptyError(CoordinationError):
    """A znode with children cannot be deleted."""


class TooLarge(CoordinationError):
    """The request is larger than a server reads: it would close the connection, at every repetition of the request."""


class ConnectionLost(CoordinationError):
    """There is no connection, or it broke before the answer came.

    `in_doubt`: the operation was sent, so it may have happened, or may happen until the session is connected again;
    then its fate is final and can be read. Otherwise it was never sent.
    """

    def __init__(self, message: str, path: str = "", *, in_doubt: bool) -> None:
        super().__init__(message, path)
        self.in_doubt = in_doubt


class SessionExpired(CoordinationError):
    """The session of the operation is over: it expired, or this side closed it."""
