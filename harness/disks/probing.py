"""Operations that are tried through a mount, to see what they meet there."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TypeVar
from urllib.parse import quote

from fencepost.faults.capabilities import CapabilityError, DiskProbe, DiskRule, Operation
from fencepost.harness.disks.places import PROBE
from fencepost.harness.disks.rules import example

PROBE_BYTES = 4096
PROBED_WITHIN = 15.0
"""Seconds besides the rule's own delay; on a machine with nothing else to do an operation takes well below one ms."""

T = TypeVar("T")


def tried(point: Path, operation: Operation, rule: DiskRule) -> DiskProbe:
    """Try an operation once, on a probe file that matches the rule. Raises CapabilityError if it does not end."""
    size = max(PROBE_BYTES, (rule.torn_after or 0) + PROBE_BYTES)
    seconds = PROBED_WITHIN + rule.delay_ms / 1000 * 3
    file = point / PROBE / quote(example(rule.files), safe="")
    return _within(seconds, partial(_tried, file, operation, size), point)


def _within(seconds: float, act: Callable[[], T], path: Path) -> T:
    """Run `act` in a daemon thread, so that a file system that hangs cannot block the harness."""
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


def _tried(file: Path, operation: Operation, size: int) -> DiskProbe:
    """Measure one operation. A fault tries it before it breaks anything, so the file exists by then."""
    began = time.monotonic()
    try:
        if operation in (Operation.READ, Operation.OPEN, Operation.NAME) and not file.exists():
            file.write_bytes(bytes(size))
        if operation is Operation.RENAME:
            return _renamed(file)
        if operation is Operation.NAME:
            os.utime(file)
            return DiskProbe(None, time.monotonic() - began)
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
        return DiskProbe(_name(error), time.monotonic() - began)


def _renamed(file: Path) -> DiskProbe:
    """Give another file the name of the probe's."""
    other = file.with_name(f"{file.name}.before")
    other.write_bytes(b"")
    began = time.monotonic()
    try:
        other.rename(file)
    except OSError as error:
        return DiskProbe(_name(error), time.monotonic() - began)
    finally:
        other.unlink(missing_ok=True)
    return DiskProbe(None, time.monotonic() - began)


def _on_open(fd: int, operation: Operation, size: int, opened_from: float) -> DiskProbe:
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
        return DiskProbe(_name(error), time.monotonic() - began)
    return DiskProbe(None, time.monotonic() - began)


def _written(fd: int, size: int, began: float) -> DiskProbe:
    """Write over bytes that differ, so that the written ones can be counted."""
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
    content = os.pread(fd, size, 0)
    return DiskProbe(error, seconds, len(content) - len(content.lstrip(new)))


def _name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, str(error))
