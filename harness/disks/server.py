"""The process behind one mount: `python -m fencepost.harness.disks.server`. It ends when the mount is taken down."""

from __future__ import annotations

import argparse
import os
import resource
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import mfusepy

from fencepost.harness.disks.control import listening, serve
from fencepost.harness.disks.history import BLOCK, BlockHistory
from fencepost.harness.disks.passthrough import Passthrough
from fencepost.harness.disks.rules import Rules, from_json, matches
from fencepost.harness.disks.undo import UndoLog

THREADS = 64
"""Operations that are delayed at the same time."""
_MAX_THREADS_SINCE = (3, 12)
_SIGKILL_PENDING = 1 << 8


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    folder = os.open(options.mount, os.O_RDONLY | os.O_DIRECTORY)
    options.probes.mkdir(exist_ok=True)
    rules = Rules(lambda: not _asks(options.harness), _dying)
    history = BlockHistory()
    files = Passthrough(folder, options.probes, rules, UndoLog(options.aside), history)
    # Before the mount, since requests may come as soon as the mount is visible.
    control = listening(options.control)
    threading.Thread(target=serve, args=(control, _Commands(files, folder, rules, history)), daemon=True).start()
    # Cached, not direct_io: that would refuse the shared mappings that JVM brokers make of their index files.
    mfusepy.FUSE(
        files,
        str(options.mount),
        foreground=True,
        hard_remove=True,
        use_ino=True,
        fsname=options.fsname,
        **_mount_options(options.options),
    )


class _Commands:
    """Called with a line's JSON; what it returns is answered."""

    def __init__(self, files: Passthrough, folder: int, rules: Rules, history: BlockHistory) -> None:
        self._files = files
        self._folder = folder
        self._rules = rules
        self._history = history

    def __call__(self, line: Mapping[str, Any]) -> Any:
        match line["do"]:
            case "add":
                self._rules.add(line["name"], from_json(line["rule"]))
            case "remove":
                return self._rules.remove(line["name"])
            case "clear":
                self._rules.clear()
            case "settle":
                self._files.settle()
            case "lose":
                lost = self._files.lose()
                return {"files": lost.files, "names": lost.names}
            case "flip":
                return self._flip(line["path"], line["offset"], line["bit"])
            case "remember":
                return self._history.begin()
            case "set_back":
                return self._set_back(line)
            case "block":
                with self._opened(line["path"]) as fd:
                    return os.pread(fd, BLOCK, line["offset"]).hex()
            case "overwrite":
                return self._overwrite(line["path"], line["offset"], *map(bytes.fromhex, (line["was"], line["now"])))
            case "hello":
                return None
            case unknown:
                raise ValueError(f"there is no {unknown!r}")
        return None

    def _flip(self, path: str, offset: int, bit: int) -> tuple[int, int]:
        """Past the kernel and the log of what to undo, as a disk does it."""
        with self._opened(path) as fd:
            if not (byte_read := os.pread(fd, 1, offset)):
                raise ValueError(f"{path} ends before byte {offset}")
            now = byte_read[0] ^ 1 << bit
            os.pwrite(fd, bytes([now]), offset)
            return byte_read[0], now

    def _set_back(self, wanted: Mapping[str, Any]) -> Sequence[tuple[str, int, str, str]]:
        """Set blocks of one file back, past the kernel. Return path, offset, and what each held and holds, as hex."""
        for path in filter(partial(matches, pattern=wanted["pattern"]), self._history.paths()):
            with suppress(FileNotFoundError), self._opened(path) as fd:
                earlier = self._history.earlier(path, fd, wanted["age"], behind_cuts=wanted["behind_cuts"])
                numbers = sorted(earlier)
                first = wanted["first"] % max(1, len(numbers))
                was = {number: os.pread(fd, BLOCK, number * BLOCK) for number in numbers[first:][: wanted["count"]]}
                if was and all(_overwrite(fd, each * BLOCK, was[each], earlier[each]) for each in was):
                    return [(path, each * BLOCK, was[each].hex(), earlier[each].hex()) for each in was]
        return []

    def _overwrite(self, path: str, offset: int, was: bytes, now: bytes) -> bool:
        with self._opened(path) as fd:
            return _overwrite(fd, offset, was, now)

    @contextmanager
    def _opened(self, path: str) -> Iterator[int]:
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW, dir_fd=self._folder)
        try:
            yield fd
        finally:
            os.close(fd)


def _overwrite(fd: int, offset: int, was: bytes, now: bytes) -> bool:
    """Replace bytes without a change of the file's times. False, and nothing is done, if the bytes are not `was`."""
    if os.pread(fd, len(was), offset) != was:
        return False
    status = os.fstat(fd)
    os.pwrite(fd, now, offset)
    os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns))
    return True


def _asks(harness: int) -> bool:
    """Return whether the current operation comes from the harness, which reads logs and probes."""
    _, _, asking = mfusepy.fuse_get_context()
    return _status(asking).get("Tgid") == str(harness)


def _dying() -> bool:
    """Return whether SIGKILL is pending for the calling process: it ends only once its operation is answered."""
    _, _, asking = mfusepy.fuse_get_context()
    status = _status(asking)
    pending = int(status.get("SigPnd", "0"), 16) | int(status.get("ShdPnd", "0"), 16)
    return bool(pending & _SIGKILL_PENDING)


def _status(thread: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{thread}/status").read_text().splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _mount_options(named: Sequence[str]) -> dict[str, Any]:
    options: dict[str, Any] = dict.fromkeys(named, True)
    if (mfusepy.fuse_version_major, mfusepy.fuse_version_minor) >= _MAX_THREADS_SINCE:
        options["max_threads"] = THREADS
    return options


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mount", type=Path, required=True)
    parser.add_argument("--probes", type=Path, required=True)
    parser.add_argument("--aside", type=Path, required=True)
    parser.add_argument("--control", type=Path, required=True)
    parser.add_argument("--fsname", required=True)
    parser.add_argument("--harness", type=int, required=True)
    parser.add_argument("options", nargs="*")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
