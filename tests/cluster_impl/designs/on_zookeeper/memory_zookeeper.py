"""ZooKeeper in memory, for settings: transactions, sequential znodes, watches, and connections that break."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from fencepost.cluster_impl.coordination.errors import (
    BadVersionError,
    ConnectionLost,
    NodeExistsError,
    NoNodeError,
)
from fencepost.cluster_impl.coordination.znodes import (
    ANY_VERSION,
    Check,
    Create,
    MultiOperation,
    SetData,
    Stat,
    Watch,
    WatchEvent,
    WatchKind,
    Znode,
)
from fencepost.cluster_impl.designs.zk_controller import znodes


class MemoryZooKeeper:
    """`breaks` says of each coming transaction whether it is made before the connection breaks; empty: none breaks.

    `meanwhile` is called once, before the next transaction.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, tuple[bytes, int]] = dict.fromkeys(znodes.ROOTS, (b"", 0))
        self.session_timeout = 10.0
        self.breaks: deque[bool] = deque()
        self.meanwhile: Callable[[], None] | None = None
        self.transactions = 0
        self._watches: list[tuple[str, Watch]] = []
        self._sequence = 0

    def put(self, path: str, data: bytes) -> None:
        """Create or change a znode, as another broker does."""
        self.nodes[path] = (data, self.nodes[path][1] + 1 if path in self.nodes else 0)
        self._fire(path)

    def children_of(self, path: str) -> list[str]:
        return sorted(each.removeprefix(f"{path}/") for each in self.nodes if each.rpartition("/")[0] == path)

    def expire(self) -> None:
        """End the session with its watches."""
        ended, self._watches = self._watches, []
        for path, watch in ended:
            watch(WatchEvent(WatchKind.EXPIRED, path))

    async def sync(self) -> None:
        return None

    async def until_connected(self) -> None:
        return None

    async def get(self, path: str) -> Znode:
        if path not in self.nodes:
            raise NoNodeError(f"there is no {path}", path)
        data, version = self.nodes[path]
        return Znode(data, _stat(version))

    async def get_many(self, paths: Sequence[str]) -> list[Znode | None]:
        return [await self.get(path) if path in self.nodes else None for path in paths]

    async def exists(self, path: str) -> Stat | None:
        return _stat(self.nodes[path][1]) if path in self.nodes else None

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        if watch is not None:
            self._watches.append((path, watch))
        return self.children_of(path)[::-1]  # in no particular order

    async def delete(self, path: str) -> None:
        if self.nodes.pop(path, None) is None:
            raise NoNodeError(f"there is no {path}", path)
        self._fire(path)

    async def multi(self, operations: Sequence[MultiOperation]) -> None:
        """Execute all or none."""
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        self.transactions += 1
        breaks = self.breaks.popleft() if self.breaks else None
        if breaks is False:
            raise ConnectionLost("the connection broke", in_doubt=True)
        for operation in operations:
            self._check(operation)
        for operation in operations:
            match operation:
                case Create(path, data, _, sequence):
                    self._sequence += sequence
                    self.put(f"{path}{self._sequence:010}" if sequence else path, data)
                case SetData(path, data):
                    self.put(path, data)
        if breaks:
            raise ConnectionLost("the connection broke", in_doubt=True)

    def _check(self, operation: MultiOperation) -> None:
        path = operation.path
        match operation:
            case Create(sequence=False) if path in self.nodes:
                raise NodeExistsError(f"there is {path}", path)
            case SetData() | Check() if path not in self.nodes:
                raise NoNodeError(f"there is no {path}", path)
            case SetData(version=wanted) | Check(version=wanted) if wanted not in (ANY_VERSION, self.nodes[path][1]):
                raise BadVersionError(f"{path} has another version", path)

    def _fire(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        fired = [watch for at, watch in self._watches if at == parent]
        self._watches = [(at, watch) for at, watch in self._watches if at != parent]
        for watch in fired:
            watch(WatchEvent(WatchKind.CHILDREN, parent))


def _stat(version: int) -> Stat:
    return Stat(czxid=1, mzxid=1, pzxid=1, version=version, ephemeral_owner=0)
