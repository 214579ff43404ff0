"""A directory seen through a mount that lies over it: every operation is done in the directory, as far as rules let it.

The directory was opened before the mount was made, and is only reached by that descriptor. Once the mount is gone, what
was written is simply there. Names under `PROBE` lie in a folder of their own beside it: files that the harness tries
operations on, matched against rules by the path that they stand for, and never listed. On another disk, as it were:
what is done to their names is not undone, and an fsync of one makes no name of the node durable.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import mfusepy

from fencepost.faults.capabilities import LostWrites, Operation
from fencepost.harness.disks.history import BlockHistory
from fencepost.harness.disks.places import PROBE
from fencepost.harness.disks.rules import Rules, refusal
from fencepost.harness.disks.undo import UndoLog, moved

STAT = (
    *("st_mode", "st_ino", "st_nlink", "st_uid", "st_gid", "st_rdev", "st_size", "st_blksize", "st_blocks"),
    *("st_atime_ns", "st_mtime_ns", "st_ctime_ns"),
)
_ROOT_ID = 0


class Passthrough(mfusepy.Operations):  # type: ignore[misc]
    """The operations that the kernel requests, by path or by open file. `use_ns`: times are nanoseconds."""

    use_ns = True

    def __init__(self, folder: int, probes: Path, rules: Rules, undo: UndoLog, history: BlockHistory) -> None:
        self._root = f"/proc/self/fd/{folder}"
        self._probes = str(probes)
        self._rules = rules
        self._undo = undo
        self._history = history
        self._paths: dict[int, str] = {}
        self._probing: set[int] = set()
        """Descriptors of files under `PROBE`."""
        self._lost = False

    def lose(self) -> LostWrites:
        """Undo what is not durable; from then on nothing is changed any more, whatever the kernel still writes back."""
        self._lost = True
        return self._undo.lose()

    def settle(self) -> None:
        """Take everything as durable."""
        self._undo.settle()

    # Names

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        status = os.fstat(fh) if fh is not None else self._place(path).stat(follow_symlinks=path == "/")
        return {name.removesuffix("_ns"): getattr(status, name) for name in STAT}

    def readlink(self, path: str) -> str:
        return str(self._place(path).readlink())

    def mkdir(self, path: str, mode: int) -> int:
        self._changes(Operation.CREATE, path)
        self._place(path).mkdir(mode)
        self._made(path)
        return 0

    def rmdir(self, path: str) -> int:
        self._changes(Operation.NAME, path)
        self._place(path).rmdir()
        self._undo.removed_folder(_inside(path), self._place(path))
        return 0

    def unlink(self, path: str) -> int:
        self._changes(Operation.NAME, path)
        if not _is_probe(path):
            self._undo.removes(_inside(path), self._place(path))
            self._history.removes(_inside(path))
        self._place(path).unlink()
        return 0

    def rename(self, old: str, new: str) -> int:
        self._changes(Operation.NAME, old)
        self._changes(Operation.RENAME, new)
        if not _is_probe(old):
            renamed = _inside(old), self._place(old), _inside(new), self._place(new)
            self._undo.renames(*renamed)
            self._history.renames(*renamed)
        self._place(old).rename(self._place(new))
        for fd, path in list(self._paths.items()):
            self._paths[fd] = moved(path, _inside(old), _inside(new))
        return 0

    def symlink(self, target: str, source: str) -> int:
        self._changes(Operation.CREATE, target)
        self._place(target).symlink_to(source)
        self._made(target)
        return 0

    def link(self, target: str, source: str) -> int:
        self._changes(Operation.CREATE, target)
        self._place(target).hardlink_to(self._place(source))
        self._undo.made(_inside(target), self._place(target))
        return 0

    def chmod(self, path: str, mode: int) -> int:
        self._changes(Operation.NAME, path)
        self._place(path).chmod(mode)
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        self._changes(Operation.NAME, path)
        os.chown(self._place(path), uid, gid)
        return 0

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        self._changes(Operation.NAME, path)
        os.utime(self._place(path), ns=times or (time.time_ns(),) * 2)
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        status = os.statvfs(self._root)
        return {name: getattr(status, name) for name in dir(status) if name.startswith("f_") and name != "f_fsid"}

    # Directories

    def opendir(self, path: str) -> int:
        self._rules.check(Operation.OPEN, _inside(path))
        return os.open(self._place(path), os.O_RDONLY | os.O_DIRECTORY)

    def readdir(self, path: str, fh: int) -> Iterator[tuple[str, dict[str, int], int]]:
        """With inode numbers, since an entry that has none is not shown."""
        own = os.fstat(fh)
        for name in (".", ".."):
            yield name, {"st_ino": own.st_ino, "st_mode": own.st_mode}, 0
        with os.scandir(fh) as entries:
            for entry in entries:
                kind = stat.S_IFDIR if entry.is_dir(follow_symlinks=False) else stat.S_IFREG
                yield entry.name, {"st_ino": entry.inode(), "st_mode": kind}, 0

    def releasedir(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def fsyncdir(self, path: str, datasync: int, fh: int) -> int:
        self._rules.check(Operation.FSYNC, _inside(path))
        os.fsync(fh)
        self._undo.committed()
        return 0

    # Files

    def create(self, path: str, mode: int, flags: int) -> int:
        place, inside = self._place(path), _inside(path)
        self._rules.check(Operation.OPEN, inside, to_write=True)
        if new := not place.exists():
            self._changes(Operation.CREATE, path)
        fd = os.open(place, _plain(flags) | os.O_CREAT, mode)
        if new:
            self._made(path)
        return self._opened(fd, path)

    def open(self, path: str, flags: int) -> int:
        place, inside = self._place(path), _inside(path)
        to_write = bool(flags & (os.O_WRONLY | os.O_RDWR))
        self._rules.check(Operation.OPEN, inside, to_write=to_write)
        if flags & os.O_TRUNC:
            self.truncate(path, 0)
        return self._opened(os.open(place, _plain(flags)), path)

    def read(self, path: str | None, size: int, offset: int, fh: int) -> bytes:
        self._rules.check(Operation.READ, self._paths[fh])
        return os.pread(fh, size, offset)

    def write(self, path: str | None, data: bytes, offset: int, fh: int) -> int:
        inside = self._paths[fh]
        refused_by = self._rules.check_write(inside, grows=offset + len(data) > os.fstat(fh).st_size)
        self._refuse_if_lost()
        if refused_by is not None:
            torn = data[: refused_by.torn_after or 0]
            if torn:
                self._writes(inside, fh, offset, len(torn))
                os.pwrite(fh, torn, offset)
            raise refusal(refused_by)
        self._writes(inside, fh, offset, len(data))
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str | None, length: int, fh: int | None = None) -> int:
        if fh is None:
            fd = os.open(self._place(path or ""), os.O_RDWR)
            try:
                self._cut(_inside(path or ""), fd, length, probe=_is_probe(path or ""))
            finally:
                os.close(fd)
        else:
            self._cut(self._paths[fh], fh, length, probe=fh in self._probing)
        return 0

    def fallocate(self, path: str | None, mode: int, offset: int, size: int, fh: int) -> int:
        if mode:
            raise OSError(errno.EOPNOTSUPP, "punching holes and the like")
        self._changes(Operation.GROW, None, self._paths[fh])
        self._writes(self._paths[fh], fh, offset, size)
        os.posix_fallocate(fh, offset, size)
        return 0

    def fsync(self, path: str | None, datasync: int, fh: int) -> int:
        self._rules.check(Operation.FSYNC, self._paths[fh])
        self._refuse_if_lost()
        os.fdatasync(fh) if datasync else os.fsync(fh)
        self._undo.synced(fh)
        if fh not in self._probing:
            self._undo.committed()
        return 0

    def flush(self, path: str | None, fh: int) -> int:
        return 0

    def release(self, path: str | None, fh: int) -> int:
        self._paths.pop(fh, None)
        self._probing.discard(fh)
        os.close(fh)
        return 0

    def _cut(self, inside: str, fd: int, length: int, *, probe: bool) -> None:
        longer = length > os.fstat(fd).st_size
        self._changes(Operation.WRITE if longer else Operation.NAME, None, inside)
        self._undo.cuts(inside, fd, length)
        if not probe:
            self._history.cuts(inside, fd, length)
        os.ftruncate(fd, length)

    def _writes(self, inside: str, fd: int, offset: int, size: int) -> None:
        """Before bytes are written."""
        self._undo.writes(inside, fd, offset, offset + size)
        if fd not in self._probing:
            self._history.writes(inside, fd, offset, offset + size)

    def _changes(self, operation: Operation, path: str | None, inside: str | None = None) -> None:
        self._rules.check(operation, _inside(path or "") if inside is None else inside, to_write=True)
        self._refuse_if_lost()

    def _refuse_if_lost(self) -> None:
        if self._lost:
            raise OSError(errno.EIO, "the power is gone")

    def _opened(self, fd: int, path: str) -> int:
        self._paths[fd] = _inside(path)
        if _is_probe(path):
            self._probing.add(fd)
        return fd

    def _made(self, path: str) -> None:
        """Give a new file to the user that made it, as without the mount."""
        place = self._place(path)
        if os.geteuid() == _ROOT_ID:
            uid, gid, _ = mfusepy.fuse_get_context()
            os.chown(place, uid, gid, follow_symlinks=False)
        if not _is_probe(path):
            self._undo.made(_inside(path), place)

    def _place(self, path: str) -> Path:
        """Return the real path behind a path of the mount."""
        if _is_probe(path):
            return Path(self._probes + path.removeprefix(f"/{PROBE}"))
        return Path(self._root + path)


def _is_probe(path: str) -> bool:
    return path == f"/{PROBE}" or path.startswith(f"/{PROBE}/")


def _inside(path: str) -> str:
    """The path in the log directory that rules are about."""
    if path.startswith(f"/{PROBE}/"):
        return unquote(path.removeprefix(f"/{PROBE}/"))
    return path.removeprefix("/")


def _plain(flags: int) -> int:
    """Appending is the kernel's affair: it says where each write goes. What it writes back it may have to read."""
    access = os.O_RDONLY if not flags & (os.O_WRONLY | os.O_RDWR) else os.O_RDWR
    return access | os.O_NOFOLLOW
