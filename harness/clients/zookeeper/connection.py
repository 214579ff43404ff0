"""A session with one ZooKeeper server that only reads: many paths at once, each round within a deadline.

The messages are kazoo's, the connection is not: kazoo's client notices a frozen server after most of a session
timeout, and not at all while it goes on asking. A read leaves nothing behind at the server, no watch either, so what a
cluster itself holds there can be counted; `watch_below` leaves one watch for the whole tree below a path.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

from kazoo.exceptions import EXCEPTIONS, NoNodeError
from kazoo.protocol.serialization import (
    Connect,
    Exists,
    GetChildren2,
    GetData,
    ReplyHeader,
    Sync,
    Watch,
    int_struct,
    write_string,
)
from kazoo.protocol.states import ZnodeStat

from fencepost.harness.clients.framed import FramedConnection
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.wire.no_answer import Closed

SESSION_MS = 4000
"""Nothing depends on the session: it holds no ephemeral znode and no watch."""
NO_PASSWORD = bytes(16)
ROOT = "/"
AT_ONCE = 500
"""Requests that are sent before their answers are read: neither side's buffers may fill up."""
NOTIFICATION = -1
"""The xid of notifications, which answer no request."""


@dataclass(frozen=True)
class Znode:
    """A znode's data, and of its stat what matters: which transactions made and last changed it, how often, and whose
    session it is bound to (0: none)."""

    data: bytes
    czxid: int
    mzxid: int
    version: int
    owner: int = 0

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace")


class ChangeKind(IntEnum):
    """The kind of change to a watched znode."""

    CREATED = 1
    DELETED = 2
    SET = 3


class TreeChange(NamedTuple):
    kind: ChangeKind
    path: str


@dataclass(frozen=True)
class _WatchBelow:
    """AddWatch of ZooKeeper 3.6, persistent and recursive; kazoo has no such message."""

    path: str
    type: ClassVar[int] = 106
    RECURSIVE: ClassVar[int] = 1

    def serialize(self) -> bytes:
        return bytes(write_string(self.path)) + bytes(int_struct.pack(self.RECURSIVE))

    def deserialize(self, frame: bytes, at: int) -> None:
        """Its answer says nothing besides its header."""


class ZooKeeperConnection(FramedConnection):
    """`seen` is the newest transaction that is known: a server that is behind it refuses the session (Closed).

    Opening it is a write of the ensemble: without a quorum there is no session, hence no connection.
    """

    def __init__(self, endpoint: Endpoint, timeout: float, seen: int = 0) -> None:
        super().__init__(*endpoint, timeout)
        self.timeout = timeout
        self.zxid = seen
        """The last transaction that the server had applied when it gave its latest answer."""
        self.changes: list[TreeChange] = []
        """Notified changes of watched znodes that were not consumed yet; complete up to `zxid`."""
        self._xid = 0
        deadline = time.monotonic() + timeout
        self.send_frames([bytes(Connect(0, seen, SESSION_MS, 0, NO_PASSWORD, False).serialize())], deadline)
        granted, _ = Connect.deserialize(self.receive_frame(deadline), 0)
        if granted.time_out <= 0:
            self.close()
            raise Closed(f"{self.peer} grants no session")

    def newest(self) -> int:
        """The server's last transaction now: one short question."""
        self._ask([Exists(ROOT, None)])
        return self.zxid

    def catch_up(self) -> None:
        """Wait until the server has applied all that the ensemble had decided when this was called."""
        self._ask([Sync(ROOT)])

    def watch_below(self, path: str) -> None:
        """From now on each answer comes after all `changes` up to it of this path and of whatever is below it."""
        self._ask([_WatchBelow(path)])

    def get(self, paths: Sequence[str]) -> list[Znode | None]:
        """The znodes at these paths, None where nothing is."""
        found = self._ask([GetData(path, None) for path in paths])
        return [each and _znode(*each) for each in found]

    def children(self, paths: Sequence[str]) -> list[list[str]]:
        """The names under these paths, sorted; nothing under what is not there."""
        return [sorted(each[0]) if each else [] for each in self._ask([GetChildren2(path, None) for path in paths])]

    def _ask(self, requests: Sequence[Any]) -> list[Any]:
        """The server answers in the same order. None for a path that is not there."""
        rounds = (requests[begin : begin + AT_ONCE] for begin in range(0, len(requests), AT_ONCE))
        return [answer for each in rounds for answer in self._round(each)]

    def _round(self, requests: Sequence[Any]) -> list[Any]:
        """All sent at once."""
        deadline = time.monotonic() + self.timeout
        first = self._xid + 1
        self._xid += len(requests)
        frames = [
            xid.to_bytes(4, "big") + request.type.to_bytes(4, "big") + bytes(request.serialize())
            for xid, request in enumerate(requests, start=first)
        ]
        self.send_frames(frames, deadline)
        return [self._answer(xid, request, deadline) for xid, request in enumerate(requests, start=first)]

    def _answer(self, xid: int, request: Any, deadline: float) -> Any:
        frame = self.receive_frame(deadline)
        header, size = ReplyHeader.deserialize(frame, 0)
        while header.xid == NOTIFICATION:
            change, _ = Watch.deserialize(frame, size)
            self.changes.append(TreeChange(ChangeKind(change.type), change.path))
            frame = self.receive_frame(deadline)
            header, size = ReplyHeader.deserialize(frame, 0)
        if header.xid != xid:
            raise self.unreadable(f"answered request {header.xid} in place of {xid}")
        self.zxid = max(self.zxid, header.zxid)
        if header.err == NoNodeError.code:
            return None
        if header.err != 0:
            raise self.unreadable(f"refused to read {request.path}: {EXCEPTIONS[header.err].__name__}")
        return request.deserialize(frame, size)


def _znode(data: bytes | None, stat: ZnodeStat) -> Znode:
    return Znode(data or b"", stat.czxid, stat.mzxid, stat.version, stat.ephemeralOwner)
