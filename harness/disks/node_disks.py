"""The log directories of nodes, mounted so that single operations on them can be broken."""

from __future__ import annotations

import errno
import os
import struct
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Literal, TypeVar
from urllib.parse import quote

from faults.capabilities import CapabilityError, DiskRule, Flip, Lost, Operation, Probed
from harness.disks.passthrough import PROBE
from harness.disks.rules import example
from harness.disks.servers import DiskServers
from harness.network.layout import Layout, Node
from harness.targets.target import Installation

PROBE_BYTES = 4096
PROBED_WITHIN = 15.0
"""Seconds besides the rule's own delay; on a machine with nothing else to do an operation takes well below one ms."""
FSYNCED, WRITTEN = 1000, 2000
"""Bytes of the file by which a power loss is proven."""
DURABLE = "durable"
_FRAME = struct.Struct(">qi")
"""A batch begins with its base offset and the number of bytes behind these two."""
_HEADER = 61
"""Bytes of a batch before its records."""
_BEFORE = 32
"""Bytes by which, with the one behind them, a place in a file is known again."""

T = TypeVar("T")


class NodeDisks:
    """Implements `faults.capabilities.Disks`, and `harness.preparation.Preparation`: nodes start upon the mounts."""

    def __init__(self, layout: Layout, installation: Installation, servers: DiskServers) -> None:
        self._layout = layout
        self._installation = installation
        self._servers = servers
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

    def probe(self, node: str, operation: Operation, rule: DiskRule, dir: int | None = None) -> Collection[Probed]:
        within = PROBED_WITHIN + rule.delay_ms / 1000 * 3
        size = max(PROBE_BYTES, (rule.torn_after or 0) + PROBE_BYTES)
        return [
            _within(within, partial(_tried, _probe(path, rule.files), operation, size), path)
            for path in self._paths(node, dir)
        ]

    def lose(self, nodes: Collection[str]) -> Mapping[str, Lost]:
        found = {}
        for node in nodes:
            lost = Lost({}, ())
            for path in self._paths(node):
                self._servers.ask(path, "clear")  # each rule is there again with the next mount
                self._leave_durable(path)
                answer = self._servers.ask(path, "lose")
                files = {name: (before, now) for name, (before, now) in answer["files"].items() if name != DURABLE}
                lost = Lost({**lost.files, **files}, (*lost.names, *answer["names"]))
                self._servers.unmount(path)
            found[node] = lost
        return found

    def durable(self, node: str) -> Collection[tuple[int, int]]:
        files = (self._servers.probes(path) / DURABLE for path in self._paths(node))
        return [(FSYNCED, file.stat().st_size if file.exists() else 0) for file in files]

    def flip(self, node: str, file: str, at: int | Literal["last-batch"], byte: int, bit: int) -> Flip:
        path, inside = self._newest(node, file)
        content = (path / inside).read_bytes()
        offset = (_in_last_batch(content, byte, inside) if at == "last-batch" else at + byte) if content else 0
        was, now = self._servers.ask(path, "flip", path=inside, offset=offset, bit=bit)
        _forget(path / inside)
        flip = Flip(inside, offset, was, now)
        self._contexts[flip] = _around(path / inside, offset)
        return flip

    def flip_back(self, node: str, flip: Flip) -> bool:
        if flip not in self._contexts:
            return True
        path = self._holding(node, flip.file)
        same = path is not None and _around(path / flip.file, flip.offset) == self._contexts[flip]
        if same and path is not None:
            self._servers.ask(
                path, "flip", path=flip.file, offset=flip.offset, bit=(flip.was ^ flip.now).bit_length() - 1
            )
            _forget(path / flip.file)
        del self._contexts[flip]
        return same

    def read(self, node: str, file: str, offset: int) -> int | None:
        path = self._holding(node, file)
        if path is None:
            return None
        with (path / file).open("rb") as opened:
            opened.seek(offset)
            found = opened.read(1)
        return found[0] if found else None

    def _leave_durable(self, path: Path) -> None:
        """A file whose first bytes were made durable, and the others not."""
        with (path / PROBE / DURABLE).open("wb", buffering=0) as file:
            file.write(bytes(FSYNCED))
            os.fsync(file.fileno())
            file.write(bytes(WRITTEN - FSYNCED))

    def _newest(self, node: str, file: str) -> tuple[Path, str]:
        found = [
            (inside, path)
            for path in self._paths(node)
            for inside in _files(path)
            if fnmatchcase(inside, file) and (path / inside).stat().st_size
        ]
        if not found:
            raise CapabilityError(f"{node} has no file that matches {file!r} and holds anything")
        inside, path = max(found)
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


def _within(seconds: float, act: Callable[[], T], path: Path) -> T:
    """In a thread that nobody waits for: a file system that does not answer must not hold the harness."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(act())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name="disk-probe", daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError:
        raise CapabilityError(f"an operation on {path} has not ended after {seconds:g} s") from None


def _probe(path: Path, files: str | None) -> Path:
    return path / PROBE / quote(example(files), safe="")


def _tried(file: Path, operation: Operation, size: int) -> Probed:
    """What is measured is the one operation: a fault tries it before it breaks anything, so the file is there."""
    began = time.monotonic()
    try:
        if operation in (Operation.READ, Operation.OPEN, Operation.NAME) and not file.exists():
            file.write_bytes(bytes(size))
        if operation is Operation.NAME:
            os.utime(file)
            return Probed(None, time.monotonic() - began)
        if operation is Operation.CREATE:
            file.unlink(missing_ok=True)
            began = time.monotonic()
        flags = {Operation.READ: os.O_RDONLY, Operation.OPEN: os.O_RDONLY}.get(operation, os.O_RDWR)
        fd = os.open(file, flags | (os.O_CREAT if flags == os.O_RDWR else 0), 0o600)
        try:
            return _on_open(fd, operation, size, began)
        finally:
            os.close(fd)
    except OSError as error:
        return Probed(_name(error), time.monotonic() - began)


def _on_open(fd: int, operation: Operation, size: int, opened_from: float) -> Probed:
    began = time.monotonic()
    try:
        if operation is Operation.READ:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.pread(fd, PROBE_BYTES, 0)
        elif operation is Operation.FSYNC:
            os.fsync(fd)
        elif operation is Operation.GROW:
            os.pwrite(fd, bytes(size), os.fstat(fd).st_size)
        elif operation is Operation.WRITE:
            return _written(fd, size, began)
        else:
            began = opened_from
    except OSError as error:
        return Probed(_name(error), time.monotonic() - began)
    return Probed(None, time.monotonic() - began)


def _written(fd: int, size: int, began: float) -> Probed:
    """Over bytes that are different, so that those which arrived can be told."""
    before = os.pread(fd, 1, 0)
    new = bytes([255 - before[0] if before else 1])
    error = None
    began = time.monotonic()
    try:
        os.pwrite(fd, new * size, 0)
    except OSError as refused:
        error = _name(refused)
    seconds = time.monotonic() - began
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    found = os.pread(fd, size, 0)
    return Probed(error, seconds, len(found) - len(found.lstrip(new)))


def _name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, str(error))


def _in_last_batch(content: bytes, byte: int, file: str) -> int:
    """Where a byte of the records of the last whole batch is, counted round."""
    begin = position = 0
    end = 0
    while position + _FRAME.size <= len(content):
        _, length = _FRAME.unpack_from(content, position)
        following = position + _FRAME.size + length
        if length <= _HEADER - _FRAME.size or following > len(content):
            break
        begin, end, position = position, following, following
    if end == 0:
        raise CapabilityError(f"{file} holds no whole batch")
    return begin + _HEADER + byte % (end - begin - _HEADER)


def _around(file: Path, offset: int) -> bytes:
    begin = max(0, offset - _BEFORE)
    with file.open("rb") as opened:
        opened.seek(begin)
        return opened.read(offset + 1 - begin)


def _files(path: Path) -> Iterator[str]:
    for folder, _, names in os.walk(path):
        for name in names:
            yield str((Path(folder) / name).relative_to(path))


def _forget(file: Path) -> None:
    """What the kernel has of it in its cache."""
    with file.open("rb") as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _forget_cached(path: Path) -> None:
    for inside in _files(path):
        try:
            _forget(path / inside)
        except OSError:  # removed meanwhile, or broken already
            continue
