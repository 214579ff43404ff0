"""Bytes vanish on links, and no side gets an error until it is over."""

from __future__ import annotations

from typing import ClassVar

from fencepost.faults.capabilities import Harm
from fencepost.faults.links.stream_fault import StreamFault, StreamParameters


class BlackholeParameters(StreamParameters):
    """Links from `from` to `to`: bytes are lost, and healing ends the connections."""


class LinkBlackhole(StreamFault):
    """Requests, replies or both on connections that `from` opens to `to` are dropped; healing closes the connections.

    Models a router or firewall that forgot the connection: what was sent is gone for good, in contrast to `stall`, and
    a client that waits for an answer learns at the end that none will come, even if the other side died long before.
    Does not model TCP, which would send the bytes again and deliver them after a short loss; nor loss of single
    packets; nor silence for a connection that is opened while `to` is down: it is closed at once. That no connection
    ended before, and that healing closed it, is measured at one that was open before. Connections that `to` opens to
    `from` are other links.
    Source: Toxiproxy, `timeout` of 0 on each stream, and `slow_close`.
    """

    name: ClassVar[str] = "blackhole"
    phrase = "the {streams} of connections from {from} to {to} are dropped"
    Parameters = BlackholeParameters
    weight = 3
    harm = Harm.BLACKHOLE
    summary = "bytes from {aim} to {to} are lost"
