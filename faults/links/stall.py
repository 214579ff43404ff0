"""Bytes stop flowing on links, and no side gets an error."""

from __future__ import annotations

from typing import ClassVar

from fencepost.faults.capabilities import Harm
from fencepost.faults.links.stream_fault import StreamFault, StreamParameters


class StallParameters(StreamParameters):
    """Links from `from` to `to`: bytes wait, and arrive after healing."""


class LinkStall(StreamFault):
    """Connections that `from` opens to `to` stay up; requests, replies or both wait in the link.

    Models a network that drops packets for a while: no side sees an error, though the other one dies, and what TCP had
    taken arrives after healing, even from a sender that died meanwhile. Does not model a connection that gives up
    (TCP's own timeouts); nor loss of single packets; nor silence for a connection that is opened while `to` is down: it
    is closed at once. That no connection ended before healing is measured at one that was open before. Connections that
    `to` opens to `from` are other links.
    Source: Toxiproxy, `bandwidth` at rate 0 on each stream, and `slow_close`.
    """

    name: ClassVar[str] = "stall"
    phrase = "the {streams} of connections from {from} to {to} are held back"
    Parameters = StallParameters
    weight = 5
    harm = Harm.STALL
    summary = "stall {aim} to {to}"
