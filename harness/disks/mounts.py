"""Mounts of the file system, as the kernel knows them: found, and taken down within seconds whatever hangs on them."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fencepost.harness.cleaning.mounts import mounts
from fencepost.harness.processes.waiting import within

DEVICE = Path("/dev/fuse")
FUSERMOUNT = "fusermount3"
CONFIGURATION = Path("/etc/fuse.conf")
CONNECTIONS = Path("/sys/fs/fuse/connections")
_FORCE, _DETACH = 1, 2
_CAP_SYS_ADMIN = 21
UNMOUNT_TIMEOUT_S = 5.0
"""Seconds for a mount to go in good order: what the kernel has not written yet is written first."""


@dataclass(frozen=True)
class FuseMount:
    point: Path
    source: str
    """The mount option `fsname`."""
    connection: int
    """Its number under /sys/fs/fuse/connections."""


@cache
def unavailable_reason(*, others: bool = False) -> str | None:
    """Why disks cannot be broken on this machine: a message with the remedy, or None.

    `others`: what is mounted has to be seen by other users, too, as by those that containers run as.
    """
    if not DEVICE.exists():
        return f"there is no {DEVICE}: load the kernel's module `fuse`, and give it to the container that this runs in"
    try:
        os.close(os.open(DEVICE, os.O_RDWR))
    except OSError as error:
        return f"{DEVICE} cannot be opened ({error.strerror}): allow it to this user, or to the container"
    if shutil.which(FUSERMOUNT) is None:
        return f"{FUSERMOUNT} is not on the PATH: apt-get install fuse3"
    if os.geteuid() == 0 and not _may_mount():
        return "this container may not mount (CAP_SYS_ADMIN): start it with --cap-add SYS_ADMIN --device /dev/fuse"
    if others and os.geteuid() and not _may_show_others():
        return f"mounts of this user cannot be seen by containers: put `user_allow_other` into {CONFIGURATION}"
    try:
        import mfusepy  # noqa: F401  # optional dependency
    except (ImportError, OSError) as error:
        return f"mfusepy cannot be used ({error}): apt-get install libfuse3-3, and pip install mfusepy"
    return None


def at(point: Path) -> FuseMount | None:
    """The FUSE mount that lies over a directory, the uppermost."""
    uppermost = None
    for mount in mounts():
        if mount.kind.startswith("fuse") and mount.point == str(point):
            uppermost = FuseMount(point, mount.source, int(mount.device.partition(":")[2]))
    return uppermost


def take_down(point: Path) -> None:
    """Unmount in order if that is quick; else abort all waiting operations and detach the mount.

    Does nothing if it is not mounted. Raises OSError if the mount is still there at the end.

    `point` is an absolute path without symbolic links.
    """
    if at(point) is None:
        return
    if not _fusermount("-u", point, UNMOUNT_TIMEOUT_S):
        abort(point)
        _fusermount("-uz", point, UNMOUNT_TIMEOUT_S)
    if at(point) is not None:
        raise OSError(f"{point} is still mounted: end the processes that have files open in it, then umount -l {point}")


def abort(point: Path) -> None:
    """Let all waiting operations of the file system fail now, even if its process hangs."""
    if (mount := at(point)) is None:
        return
    with suppress(OSError):
        (CONNECTIONS / str(mount.connection) / "abort").write_text("1")
        return
    with suppress(OSError):  # the file is only there where fusectl is mounted; root can do without
        _umount2(point, _FORCE | _DETACH)


def await_mounted(point: Path, source: str, seconds: float) -> bool:
    """Wait until the mount with this `fsname` lies over `point`. Return False if it does not within `seconds`."""
    return within(seconds, lambda: (mount := at(point)) is not None and mount.source == source)


def _fusermount(how: str, point: Path, seconds: float) -> bool:
    command = [FUSERMOUNT, how, "-q", str(point)]
    try:
        return subprocess.run(command, capture_output=True, timeout=seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _umount2(point: Path, flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(os.fsencode(point), flags):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(point))


def _may_mount() -> bool:
    status = Path("/proc/self/status").read_text()
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return effective is not None and bool(int(effective[1], 16) >> _CAP_SYS_ADMIN & 1)


def _may_show_others() -> bool:
    try:
        return "user_allow_other" in CONFIGURATION.read_text().split()
    except OSError:
        return False
