"""A tree of znodes in memory, for tests: compare-and-set, sequential znodes, and connections that break."""

from __future__ import annotations

from collections import deque

from fencepost.cluster_impl.coordination.errors import BadVersionError, ConnectionLost, NoNodeError
from fencepost.cluster_impl.coordination.znodes import CreatedZnode, Stat, Znode


class MemoryZnodes:
    """`breaks` holds, for each coming write, whether it is made before the connection breaks; empty: none breaks."""

    def __init__(self) -> None:
        self.data: dict[str, tuple[bytes, int]] = {}
        self.breaks: deque[bool | None] = deque()
        self.writes = 0
        self._sequence = 0

    def put(self, path: str, data: bytes, version: int = 0) -> None:
        self.data[path] = (data, version)

    async def get(self, path: str) -> Znode:
        if path not in self.data:
            raise NoNodeError(f"there is no {path}", path)
        data, version = self.data[path]
        return Znode(data, _stat(version))

    async def set(self, path: str, data: bytes, version: int) -> Stat:
        self.writes += 1
        breaks = self.breaks.popleft() if self.breaks else None
        if breaks is False:
            raise ConnectionLost("the connection broke", path, in_doubt=True)
        if path not in self.data:
            raise NoNodeError(f"there is no {path}", path)
        known = self.data[path][1]
        if version not in (known, -1):
            raise BadVersionError(f"{path} has another version", path)
        self.data[path] = (data, known + 1)
        if breaks:
            raise ConnectionLost("the connection broke", path, in_doubt=True)
        return _stat(known + 1)

    async def create(self, path: str, data: bytes, *, sequence: bool) -> CreatedZnode:
        self._sequence += 1
        path = f"{path}{self._sequence:010}" if sequence else path
        self.data[path] = (data, 0)
        return CreatedZnode(path, _stat(0))

    async def until_connected(self) -> None:
        return None

    def below(self, prefix: str) -> list[bytes]:
        return [data for path, (data, _) in sorted(self.data.items()) if path.startswith(prefix)]


def _stat(version: int) -> Stat:
    return Stat(czxid=1, mzxid=1, pzxid=1, version=version, ephemeral_owner=0)
