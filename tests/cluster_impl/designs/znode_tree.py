"""ZooKeeper in memory, for tests: a tree of znodes with versions, transaction ids and one-shot watches.

It executes the operations of `coordination.steps` one at a time, in their order, so that a test can end a controller
between any two writes. Operations may belong to a session; ephemeral znodes end with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from fencepost.cluster_impl.coordination.steps import (
    ANY_VERSION,
    Absent,
    BadVersion,
    Children,
    Create,
    Created,
    Delete,
    Done,
    Exists,
    Found,
    Get,
    Names,
    NodeExists,
    NotEmpty,
    Operation,
    Outcome,
    Present,
    SetData,
    Stat,
    Steps,
)

T = TypeVar("T")


class TermOver(Exception):
    """A write was not executed: the controller that asked for it is none any more."""


@dataclass(slots=True)
class _Node:
    data: bytes
    czxid: int
    mzxid: int
    version: int = 0
    children: set[str] = field(default_factory=set)
    owner: int = 0
    """The session that it goes with; 0 if it is persistent."""
    sequence: int = 0
    """The number of the next child in sequence."""

    def stat(self, session: int) -> Stat:
        is_own = self.owner != 0 and self.owner == session
        return Stat(self.czxid, self.mzxid, 0, self.version, self.owner, len(self.children), is_own)


class ZnodeTree:
    def __init__(self) -> None:
        self.zxid = 0
        self.fired: list[str] = []
        """Paths of fired watches that were not delivered yet; for watches that were set without a session."""
        self.fired_in: dict[int, list[str]] = {}
        """The same by session."""
        self.writes_left: int | None = None
        """The term of the controller is over after so many more writes; None: never."""
        self.meanwhile: Callable[[], None] | None = None
        """Called once, before the next write of a controller, to act between its steps."""
        self.writes = 0
        """Writes of controllers, refused ones included."""
        self._nodes: dict[str, _Node] = {"": _Node(b"", 0, 0)}
        self._data_watches: dict[str, set[int]] = {}
        self._child_watches: dict[str, set[int]] = {}

    # Actions of others: brokers, operators, older software

    def create(self, path: str, data: bytes = b"") -> int:
        """Create a znode with its parents; return the czxid."""
        parent = path.rpartition("/")[0]
        if parent not in self._nodes:
            self.create(parent)
        assert isinstance(self._create(path, data), Done), f"{path} exists"
        return self._nodes[path].czxid

    def overwrite(self, path: str, data: bytes) -> None:
        assert isinstance(self._set(path, data, ANY_VERSION), Done), f"there is no {path}"

    def compare_and_set(self, path: str, data: bytes, version: int) -> bool:
        return isinstance(self._set(path, data, version), Done)

    def delete(self, path: str) -> None:
        assert isinstance(self._delete(path, ANY_VERSION), Done), f"{path} cannot be deleted"

    def data(self, path: str) -> bytes:
        return self._nodes[path].data

    def version(self, path: str) -> int:
        return self._nodes[path].version

    def exists(self, path: str) -> bool:
        return path in self._nodes

    def node(self, path: str) -> tuple[bytes, int, int] | None:
        """Data, version and czxid."""
        node = self._nodes.get(path)
        return (node.data, node.version, node.czxid) if node is not None else None

    def owner(self, path: str) -> int:
        """The session of an ephemeral znode; 0 for what is persistent, or absent."""
        node = self._nodes.get(path)
        return node.owner if node is not None else 0

    def names(self, path: str) -> list[str]:
        return sorted(self._nodes[path].children)

    def paths(self) -> list[str]:
        return sorted(self._nodes)

    def forget_watches(self) -> None:
        """The session that set them is over."""
        self._data_watches.clear()
        self._child_watches.clear()
        self.fired.clear()

    def end_session(self, session: int) -> None:
        """Delete the ephemeral znodes of a session, and drop its watches."""
        self.fired_in.pop(session, None)
        for watches in (self._data_watches, self._child_watches):
            for sessions in watches.values():
                sessions.discard(session)
        for path in [path for path, node in self._nodes.items() if node.owner == session]:
            self.delete(path)

    def watched(self, path: str) -> bool:
        return bool(self._child_watches.get(path) or self._data_watches.get(path))

    # Actions of controllers

    def run(self, steps: Steps[T], session: int = 0) -> T:
        """Steps to their end. Raises TermOver, and closes them, when no write is left."""
        try:
            batch = next(steps)
            while True:
                assert batch, "a core yielded an empty batch"
                batch = steps.send(self.execute(batch, session))
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    def execute(self, batch: Sequence[Operation], session: int = 0) -> list[Outcome]:
        return [self._execute(operation, session) for operation in batch]

    def _execute(self, operation: Operation, session: int) -> Outcome:
        match operation:
            case Get(path, watch):
                if watch and path in self._nodes:
                    self._data_watches.setdefault(path, set()).add(session)
                node = self._nodes.get(path)
                return Found(node.data, node.stat(session)) if node else Absent()
            case Exists(path, watch):
                if watch:
                    self._data_watches.setdefault(path, set()).add(session)
                node = self._nodes.get(path)
                return Present(node.stat(session)) if node else Absent()
            case Children(path, watch):
                if path not in self._nodes:
                    return Absent()
                if watch:
                    self._child_watches.setdefault(path, set()).add(session)
                return Names(self.names(path)[::-1])  # in no particular order
        if self.meanwhile is not None:
            interrupt, self.meanwhile = self.meanwhile, None
            interrupt()
        if self.writes_left is not None:
            if self.writes_left == 0:
                raise TermOver
            self.writes_left -= 1
        self.writes += 1
        match operation:
            case Create(path, data, ephemeral, sequence):
                assert session or not ephemeral, f"{path} is ephemeral, and its session is missing"
                return self._create(path, data, owner=session if ephemeral else 0, sequence=sequence)
            case SetData(path, data, version):
                return self._set(path, data, version)
            case Delete(path, version):
                return self._delete(path, version)

    def _create(self, path: str, data: bytes, owner: int = 0, sequence: bool = False) -> Outcome:
        parent, _, name = path.rpartition("/")
        if parent not in self._nodes:
            return Absent()
        if sequence:
            number = f"{self._nodes[parent].sequence:010}"
            self._nodes[parent].sequence += 1
            path, name = path + number, name + number
        if path in self._nodes:
            return NodeExists()
        assert not self._nodes[parent].owner, f"{parent} is ephemeral, and can have no children"
        self.zxid += 1
        self._nodes[path] = _Node(data, self.zxid, self.zxid, owner=owner)
        self._nodes[parent].children.add(name)
        self._fire(path, self._data_watches)
        self._fire(parent, self._child_watches)
        return Created(path=path, stat=self._nodes[path].stat(owner)) if owner or sequence else Done()

    def _set(self, path: str, data: bytes, version: int) -> Outcome:
        node = self._nodes.get(path)
        if node is None:
            return Absent()
        if version not in (ANY_VERSION, node.version):
            return BadVersion()
        self.zxid += 1
        node.data, node.mzxid, node.version = data, self.zxid, node.version + 1
        self._fire(path, self._data_watches)
        return Done(node.version)

    def _delete(self, path: str, version: int) -> Outcome:
        node = self._nodes.get(path)
        if node is None:
            return Absent()
        if version not in (ANY_VERSION, node.version):
            return BadVersion()
        if self.names(path):
            return NotEmpty()
        self.zxid += 1
        del self._nodes[path]
        parent, _, name = path.rpartition("/")
        self._nodes[parent].children.discard(name)
        self._fire(path, self._data_watches)
        self._fire(path, self._child_watches)
        self._fire(parent, self._child_watches)
        return Done()

    def _fire(self, path: str, watches: dict[str, set[int]]) -> None:
        for session in sorted(watches.pop(path, ())):
            (self.fired_in.setdefault(session, []) if session else self.fired).append(path)
