"""The log directories of nodes, mounted so that single operations on them can be broken."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import wraps
from pathlib import Path
from typing import Concatenate, Literal, ParamSpec, TypeVar

from fencepost.faults.capabilities import CapabilityError, DiskProbe, DiskRule, Flip, LostWrites, Operation, StaleBlock
from fencepost.harness.disks.places import PROBE, bytes_before, forget, in_last_batch
from fencepost.harness.disks.probing import tried
from fencepost.harness.disks.servers import DiskServers
from fencepost.harness.network.layout import Layout, Node
from fencepost.harness.targets.target import Installation

FSYNCED, WRITTEN = 1000, 2000
"""Bytes of the file by which a power loss is proven."""
DURABLE = "durable"

P = ParamSpec("P")
T = TypeVar("T")


def _in_a_message(method: Callable[Concatenate[NodeDisks, P], T]) -> Callable[Concatenate[NodeDisks, P], T]:
    """Raise an OSError of the method as CapabilityError."""

    @wraps(method)
    def asked(self: NodeDisks, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except OSError as error:
            raise CapabilityError(f"the disk could not be used for `{method.__name__}`: {error}") from error

    return asked


class NodeDisks:
    """Implements `faults.capabilities.Disks`, and `Preparation`: nodes start upon the mounts.

    `remembers`: the earlier content of files is kept from the first start of each node.
    """

    def __init__(
        self, layout: Layout, installation: Installation, servers: DiskServers, *, remembers: bool = False
    ) -> None:
        self._layout = layout
        self._installation = installation
        self._servers = servers
        self._remembers = remembers
        self._contexts: dict[Flip, bytes] = {}

    def prepare(self, node: Node) -> None:
        if node.disk == "breakable":
            for number, path in enumerate(self._installation.log_dirs(node)):
                self._servers.mount(path, f"disk-{node.name}" + (f"-{number + 1}" if number else ""))

    def environment(self, node: Node) -> Mapping[str, str]:
        """Nothing; but it is asked when all is laid out for the first start."""
        if node.disk == "breakable":
            for path in self._installation.log_dirs(node):
                self._servers.settle(path)
                if self._remembers:
                    self._servers.remember(path)
        return {}

    def check(self, node: str) -> None:
        for path in self._paths(node):
            self._servers.ask(path, "hello")

    def add(self, node: str, name: str, rule: DiskRule, dir: int | None = None) -> None:
        if Operation.READ in rule.operations:
            for path in self._paths(node, dir):
                _forget_cached(path)
        for path in self._paths(node, dir):
            self._servers.add(path, name, rule)

    def remove(self, node: str, name: str) -> Mapping[str, int]:
        hits: Counter[str] = Counter()
        for path in self._paths(node):
            hits.update(self._servers.remove(path, name))
        return dict(hits)

    def probe(self, node: str, operation: Operation, rule: DiskRule, dir: int | None = None) -> Collection[DiskProbe]:
        return [tried(path, operation, rule) for path in self._paths(node, dir)]

    @_in_a_message
    def lose(self, nodes: Collection[str]) -> Mapping[str, LostWrites]:
        by_node = {}
        for node in nodes:
            lost = LostWrites({}, ())
            for path in self._paths(node):
                self._servers.ask(path, "clear")  # each rule is there again with the next mount
                self._leave_durable(path)
                answer = self._servers.ask(path, "lose")
                files = {name: (before, now) for name, (before, now) in answer["files"].items() if name != DURABLE}
                lost = LostWrites({**lost.files, **files}, (*lost.names, *answer["names"]))
                self._servers.unmount(path)
            by_node[node] = lost
        return by_node

    @_in_a_message
    def durable(self, node: str) -> Collection[tuple[int, int]]:
        files = (self._servers.probes(path) / DURABLE for path in self._paths(node))
        return [(FSYNCED, file.stat().st_size if file.exists() else 0) for file in files]

    @_in_a_message
    def flip(self, node: str, file: str, at: int | Literal["last-batch"], byte: int, bit: int) -> Flip:
        path, inside = self._newest(node, file)
        content = (path / inside).read_bytes()
        offset = (in_last_batch(content, byte, inside) if at == "last-batch" else at + byte) if content else 0
        was, now = self._servers.ask(path, "flip", path=inside, offset=offset, bit=bit)
        forget(path / inside)
        flip = Flip(inside, offset, was, now)
        self._contexts[flip] = bytes_before(path / inside, offset)
        return flip

    @_in_a_message
    def flip_back(self, node: str, flip: Flip) -> bool:
        if flip not in self._contexts:
            return True
        path = self._holding(node, flip.file)
        same = path is not None and bytes_before(path / flip.file, flip.offset) == self._contexts[flip]
        if same and path is not None:
            self._servers.ask(
                path, "flip", path=flip.file, offset=flip.offset, bit=(flip.was ^ flip.now).bit_length() - 1
            )
            forget(path / flip.file)
        del self._contexts[flip]
        return same

    @_in_a_message
    def read(self, node: str, file: str, offset: int) -> int | None:
        path = self._holding(node, file)
        if path is None:
            return None
        with (path / file).open("rb") as opened:
            opened.seek(offset)
            byte = opened.read(1)
        return byte[0] if byte else None

    @_in_a_message
    def remember(self, node: str) -> float:
        return min(self._servers.remember(path) for path in self._paths(node))

    @_in_a_message
    def set_back(
        self, node: str, file: str, age: float, *, first: int, count: int, behind_cuts: bool
    ) -> Collection[StaleBlock]:
        for path in self._paths(node):
            set_back = self._servers.ask(
                path, "set_back", pattern=file, age=age, first=first, count=count, behind_cuts=behind_cuts
            )
            for inside in {inside for inside, *_ in set_back}:
                forget(path / inside)
            if set_back:
                return [
                    StaleBlock(inside, offset, bytes.fromhex(was), bytes.fromhex(now))
                    for inside, offset, was, now in set_back
                ]
        raise CapabilityError(f"{node} has no file that matches {file!r} and of which a change is known")

    @_in_a_message
    def on_disk(self, node: str, block: StaleBlock) -> bytes:
        path = self._holding(node, block.file)
        if path is None:
            return b""
        return bytes.fromhex(self._servers.ask(path, "block", path=block.file, offset=block.offset))[: len(block.now)]

    @_in_a_message
    def set_forward(self, node: str, block: StaleBlock) -> bool:
        path = self._holding(node, block.file)
        if path is None:
            return False
        same: bool = self._servers.ask(
            path, "overwrite", path=block.file, offset=block.offset, was=block.now.hex(), now=block.was.hex()
        )
        forget(path / block.file)
        return same

    def _leave_durable(self, path: Path) -> None:
        """A file whose first bytes were made durable, and the others not."""
        with (path / PROBE / DURABLE).open("wb", buffering=0) as file:
            file.write(bytes(FSYNCED))
            os.fsync(file.fileno())
            file.write(bytes(WRITTEN - FSYNCED))

    def _newest(self, node: str, file: str) -> tuple[Path, str]:
        candidates = [
            (inside, path)
            for path in self._paths(node)
            for inside in _files(path)
            if fnmatchcase(inside, file) and (path / inside).stat().st_size
        ]
        if not candidates:
            raise CapabilityError(f"{node} has no file that matches {file!r} and holds anything")
        inside, path = max(candidates)
        return path, inside

    def _holding(self, node: str, file: str) -> Path | None:
        return next((path for path in self._paths(node) if (path / file).is_file()), None)

    def _paths(self, node: str, dir: int | None = None) -> tuple[Path, ...]:
        described = self._layout.node(node)
        if described.disk != "breakable":
            raise CapabilityError(f"the disk of {node} cannot be broken: give it `disk: breakable` in the plan")
        paths = self._installation.log_dirs(described)
        if dir is None:
            return paths
        if dir >= len(paths):
            raise CapabilityError(f"{node} has no log directory {dir}: it has {len(paths)}, counted from 0")
        return (paths[dir],)


def _files(path: Path) -> Iterator[str]:
    for folder, _, names in os.walk(path):
        for name in names:
            yield str((Path(folder) / name).relative_to(path))


def _forget_cached(path: Path) -> None:
    for inside in _files(path):
        try:
            forget(path / inside)
        except OSError:  # removed meanwhile, or broken already
            continue
