"""The ways in which a request gets no answer."""

from __future__ import annotations


class NoAnswer(Exception):
    """The request was not answered; the message says how that showed."""


class Unanswered(NoAnswer):
    """Nothing came in time. The request may have been carried out, or still be."""


class NotReached(NoAnswer):
    """No connection was made, or it ended before the node's first byte. Nothing but its opening was sent."""


class Closed(NoAnswer):
    """The connection ended in place of an answer, after the node had answered over it before."""


class Refused(Closed):
    """The node was reached, and its security lets the harness not in, or the harness does not trust its certificate."""


class Unreadable(NoAnswer):
    """An answer came that is not what was asked for."""


class NotOffered(NoAnswer):
    """The node takes no version of the request that the harness speaks, so the request was not sent.

    `reason` is the message without the address of the node.
    """

    def __init__(self, peer: str, reason: str) -> None:
        super().__init__(f"{peer} {reason}")
        self.reason = reason
