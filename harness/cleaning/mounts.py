"""FUSE mounts that outlived their harness: at the recorded mount point, and with the token of the record as source."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.cleaning.leftover import Leftover, RemovalError
from fencepost.harness.processes import table
from fencepost.harness.processes.resources import ResourceRecords, Stamp, read_resources

UNMOUNT_WITHIN = 10.0
_CONNECTIONS = Path("/sys/fs/fuse/connections")


@dataclass(frozen=True)
class MountEntry:
    """A line of /proc/self/mountinfo."""

    point: str
    kind: str
    source: str
    device: str
    """`major:minor`."""


def mounts() -> list[MountEntry]:
    """All mounts that this process sees; of two at one place the later one is on top."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text(errors="replace").splitlines():
        front, _, back = line.partition(" - ")
        fields, (kind, source, *_) = front.split(" "), back.split(" ")
        found.append(MountEntry(_unescaped(fields[4]), kind, _unescaped(source), fields[2]))
    return found


def of_run(run: Path) -> list[Leftover]:
    """Return the mounts of a run that still exist, without foreign mounts at the same place."""
    recorded = [each for each in read_resources(run) if each.kind == "mount" and each.boot == table.boot_id()]
    if not recorded:
        return []
    there = {(mount.point, mount.source): mount for mount in mounts() if mount.kind.partition(".")[0] == "fuse"}
    found = []
    for resource in recorded:
        marker = Stamp(resource.token, run).fsname
        if mount := there.get((_resolved(resource.id), marker)):
            found.append(
                Leftover("mount", str(resource.details.get("node", "")), mount.point, (run, resource.id, mount))
            )
    return found


def remove(found: Sequence[Leftover]) -> None:
    """Unmount lazily, so that open files do not prevent it. Their servers have ended before.

    A foreign mount that lies over one of them is left alone, with the mount below it.
    """
    wrong = []
    for each in reversed(found):
        run, id, mount = each.handle
        there = [other for other in mounts() if other.point == mount.point]
        if mount in there and there[-1] != mount:
            wrong.append(f"{each} is hidden under something that is mounted over it: unmount that, and clean again")
            continue
        if mount in there:  # else a watcher was faster
            _abort(mount)
            if error := _unmount(mount):
                wrong.append(f"{each} could not be unmounted: {error}")
                continue
        with suppress(OSError):  # a folder that is gone or read-only has nothing to note it in
            ResourceRecords(run).gone("mount", id)
    RemovalError.unless_none(wrong)


def _abort(mount: MountEntry) -> None:
    """End every operation that still waits, where the kernel lets us."""
    with suppress(OSError):
        (_CONNECTIONS / mount.device.partition(":")[2] / "abort").write_text("1")


def _unmount(mount: MountEntry) -> str | None:
    """The reason why not, or None."""
    tools = [["fusermount3", "-u", "-z"], ["fusermount", "-u", "-z"], ["umount", "-l"]]
    said = "there is neither fusermount3 nor umount on the PATH"
    for tool in tools:
        if shutil.which(tool[0]) is None:
            continue
        try:
            done = subprocess.run(
                [*tool, mount.point], capture_output=True, text=True, timeout=UNMOUNT_WITHIN, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            said = f"{tool[0]} did not end within {UNMOUNT_WITHIN:g} s"
            continue
        if mount not in mounts():
            return None
        said = done.stderr.strip() or f"{tool[0]} ended with {done.returncode}"
    return said


def _resolved(point: str) -> str:
    """As the kernel shows it. The place itself is not looked at: a dead mount answers nothing."""
    path = Path(point)
    return str(path.parent.resolve() / path.name)


def _unescaped(text: str) -> str:
    """mountinfo writes blanks as `\\040`."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
