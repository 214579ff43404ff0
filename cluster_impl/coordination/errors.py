"""How an operation on ZooKeeper can fail."""

from __future__ import annotations


class CoordinationError(Exception):
    """The message is a sentence. `path`: the znode it is about; `index`: the place of the operation in its multi."""

    def __init__(self, sentence: str, path: str = "", index: int | None = None) -> None:
        super().__init__(sentence)
        self.path = path
        self.index = index


class NoNode(CoordinationError):
    """There is no such znode, or (for a create) no parent."""


class NodeExists(CoordinationError):
    pass


class BadVersion(CoordinationError):
    """The compare-and-set lost: the znode has another version than the one given."""


class NotEmpty(CoordinationError):
    """A znode with children cannot be deleted."""


class TooLarge(CoordinationError):
    """More than a server reads: it would close the connection, and every repetition of the request with it."""


class ConnectionLost(CoordinationError):
    """There is no connection, or it broke before the answer came.

    `in_doubt`: the operation was handed on, so it may have happened or may happen until the session is connected
    again; then its fate is final and can be read. Otherwise it was never sent.
    """

    def __init__(self, sentence: str, path: str = "", *, in_doubt: bool) -> None:
        super().__init__(sentence, path)
        self.in_doubt = in_doubt


class SessionExpired(CoordinationError):
    """The session that the operation belonged to is over, by expiry or because this side closed it."""
