"""The watches of a client, kept on this side so that a reconnect loses none.

A server forgets its watches with the connection. After a reconnect each watched znode is read again: a watch whose
znode changed since it was set is called then, the others are set again. No change is missed, because a watch remembers
the transaction that its reader saw last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from fencepost.cluster_impl.coordination.znodes import Watch, WatchEvent, WatchKind


class Watched(Enum):
    DATA = "data"
    CHILDREN = "children"


ABSENT = 0
"""The transaction id of a znode that does not exist."""

_FIRED_BY = {
    WatchKind.CREATED: (Watched.DATA,),
    WatchKind.CHANGED: (Watched.DATA,),
    WatchKind.DELETED: (Watched.DATA, Watched.CHILDREN),
    WatchKind.CHILDREN: (Watched.CHILDREN,),
}


@dataclass(slots=True)
class WatchTable:
    _armed: dict[tuple[Watched, str], dict[Watch, int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self._armed.values()))

    def arm(self, watched: Watched, path: str, watch: Watch, seen: int) -> None:
        """`seen`: the transaction of the last change that the reader knows (mzxid of data, pzxid of children)."""
        self._armed.setdefault((watched, path), {})[watch] = seen

    def fired(self, event: WatchEvent) -> list[Watch]:
        """Remove and return the watches that this event fires."""
        fired: dict[Watch, None] = {}
        for watched in _FIRED_BY[event.kind]:
            fired.update(dict.fromkeys(self._armed.pop((watched, event.path), ())))
        return list(fired)

    def forget(self, watch: Watch) -> None:
        for armed in self._armed.values():
            armed.pop(watch, None)
        self._armed = {key: armed for key, armed in self._armed.items() if armed}

    def to_read_again(self) -> list[tuple[Watched, str]]:
        return list(self._armed)

    def read_again(self, watched: Watched, path: str, now: int) -> Iterable[tuple[Watch, WatchEvent]]:
        """Remove and return the watches that missed an event, with the event. `now`: the last change of the znode."""
        armed = self._armed.get((watched, path), {})
        missed = [(watch, seen) for watch, seen in armed.items() if seen != now]
        for watch, _ in missed:
            del armed[watch]
        if not armed:
            self._armed.pop((watched, path), None)
        return [(watch, WatchEvent(_what_happened(watched, seen, now), path)) for watch, seen in missed]

    def end(self) -> list[tuple[Watch, WatchEvent]]:
        """Remove and return all watches, each with the event that the session expired."""
        ended = [
            (watch, WatchEvent(WatchKind.EXPIRED, path)) for (_, path), armed in self._armed.items() for watch in armed
        ]
        self._armed.clear()
        return ended


def _what_happened(watched: Watched, seen: int, now: int) -> WatchKind:
    if now == ABSENT:
        return WatchKind.DELETED
    if seen == ABSENT:
        return WatchKind.CREATED
    return WatchKind.CHANGED if watched is Watched.DATA else WatchKind.CHILDREN
