"""Leases of the address ranges `127.k.*`: one file for each k, locked by flock as long as the run lives.

The kernel drops the lock when the harness dies, however it dies. Its nodes may live on, though, so the file names the
run folder, and a lease whose run left processes, mounts or containers is skipped until they are cleaned up.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import stat
import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.network.addresses import FIRST_K, LAST_K, Addresses, Endpoint
from fencepost.harness.processes.records import RECORDS, living, read_records
from fencepost.harness.processes.resources import read_resources

OF_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def state_folder() -> Path:
    """Return the folder of this user's leases; a reboot removes it, together with the processes that they name.

    Raises UsageError if another user could write there, since the leases decide what is cleaned up.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(runtime) / "fencepost" if runtime else Path(tempfile.gettempdir()) / f"fencepost-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & OF_OTHERS:
        raise UsageError(
            f"{folder} is not a folder in which only this user writes: remove it, or name another place in "
            "XDG_RUNTIME_DIR"
        )
    return folder


@dataclass(frozen=True)
class LeaseFile:
    """A lease on disk, held by a harness or left behind."""

    path: Path
    run: Path | None
    """The run folder it was taken for; None while it is being taken or given back."""

    @property
    def k(self) -> int:
        return int(self.path.stem)


class Lease:
    """The right to every address of 127.k.*, until `release` or the end of this process."""

    def __init__(self, addresses: Addresses, descriptor: int) -> None:
        self.addresses = addresses
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, run: Path, listeners: Callable[[Addresses], Iterable[Endpoint]]) -> Self:
        """Lease the first free k whose `listeners` can all be bound.

        The search starts at a k that depends on this process, so that runs started together do not queue up behind
        each other. Raises InfrastructureError if every k is taken.
        """
        span = LAST_K - FIRST_K + 1
        start = os.getpid() * 7 % span
        for step in range(span):
            addresses = Addresses(FIRST_K + (start + step) % span)
            descriptor = _take(_path(addresses.k), run, listeners(addresses))
            if descriptor is not None:
                return cls(addresses, descriptor)
        raise InfrastructureError(
            f"all {span} address ranges 127.{FIRST_K}.* to 127.{LAST_K}.* are taken, held or left behind by runs "
            f"(leases in {state_folder()}): run `fencepost clean`"
        )

    def release(self) -> None:
        if self._descriptor is not None:
            _give_back(_path(self.addresses.k), self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def leases() -> list[LeaseFile]:
    """Every lease that names a run, held or left behind."""
    leases = (LeaseFile(path, _read(path)) for path in sorted(state_folder().glob("*.lease")))
    return [lease for lease in leases if lease.run is not None]


def forget(lease: LeaseFile) -> bool:
    """Give back a lease that a dead run left behind. False if its run lives and holds it."""
    descriptor = _lock(lease.path)
    if descriptor is None:
        return False
    _give_back(lease.path, descriptor)
    return True


def is_held(lease: LeaseFile) -> bool:
    """Return whether the harness that took this lease is alive."""
    try:
        descriptor = os.open(lease.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        return not _locked(descriptor)
    finally:
        os.close(descriptor)


def _take(path: Path, run: Path, listeners: Iterable[Endpoint]) -> int | None:
    descriptor = _lock(path)
    if descriptor is None:
        return None
    earlier = _read(path)
    if earlier is not None and _left_something(earlier):
        os.close(descriptor)
        return None
    if not all(map(_is_free, listeners)):
        os.close(descriptor) if earlier is not None else _give_back(path, descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps({"run": str(run.resolve()), "pid": os.getpid()}).encode(), 0)
    return descriptor


def _left_something(run: Path) -> bool:
    return bool(living(read_records(run / RECORDS)) or read_resources(run))


def _lock(path: Path) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if not _locked(descriptor):
        os.close(descriptor)
        return None
    if _is_at(path, descriptor):
        return descriptor
    os.close(descriptor)  # its holder gave it back between the opening and the locking: this file has no name any more
    return _lock(path)


def _locked(descriptor: int) -> bool:
    """Try to lock the file; return whether that succeeded."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _give_back(path: Path, descriptor: int) -> None:
    """Remove the file while its lock is held, so that no other process can lock it in between."""
    path.unlink(missing_ok=True)
    os.close(descriptor)


def _read(path: Path) -> Path | None:
    try:
        return Path(json.loads(path.read_text())["run"])
    except (OSError, ValueError, KeyError):
        return None


def _is_free(endpoint: Endpoint) -> bool:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(endpoint)
        except OSError:
            return False
    return True


def _path(k: int) -> Path:
    return state_folder() / f"{k}.lease"
