"""Requests to the ports of a ZooKeeper server from a process that is neither a client nor a member of its ensemble."""

from __future__ import annotations

import itertools
import struct

SRVR = b"srvr"
"""The four-letter word for what a server is; also one without a quorum answers it."""

MNTR = b"mntr"
"""The four-letter word for all its figures: some thousand bytes."""

SMALLEST_RESUMPTION = 33
"""Bytes of a request to resume a session, with no password."""
_NO_SESSIONS = itertools.count(0x66656E63)
"""Ids of sessions that no server gave out: theirs have the server's number and the time in front. No two requests name
the same: with the end of one a server closes whatever connection named its session last."""

_VERSION_1 = -0x10000
_LOOKING = 0
_OBSERVER_IDS = 1 << 32
"""Above the id of every server: an ensemble leaves connections to the one with the higher id."""


def vote_question(observer: int) -> bytes:
    """Return a leader election notification of a server without a vote; the answer is the present vote.

    `observer` tells askers apart; a second one of the same number ends the connection of the first.
    """
    sid, address = _OBSERVER_IDS + observer, b"localhost:1"
    greeting = struct.pack(">qqi", _VERSION_1, sid, len(address)) + address
    notification = struct.pack(">iqqqqi", _LOOKING, sid, 0, 0, 0, 0)
    return greeting + struct.pack(">i", len(notification)) + notification


def resumption(size: int) -> bytes:
    """A request to resume a session that there is not, so many bytes long by its password.

    The server says that the session is over, and closes the connection; nothing is made.
    """
    password = size - SMALLEST_RESUMPTION
    body = struct.pack(">iqiqi", 0, 0, 4000, next(_NO_SESSIONS), password) + b"x" * password + b"\0"
    return struct.pack(">i", len(body)) + body
