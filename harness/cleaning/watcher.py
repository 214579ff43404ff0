"""A watcher beside each run: when its harness dies, it cleans up exactly that run, and ends.

It is a shell that reads from a pipe: next to no memory, no wake-ups. An orderly end is told through the pipe. When the
harness dies, however it does, the kernel closes the pipe, and the shell becomes a Python that cleans up. It leads a
session of its own, so neither Ctrl-C nor a closed terminal reaches it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.cleaning.cleanup import clean, has_records, is_alive
from harness.cleaning.records import read_resources
from harness.errors import UsageError
from harness.network.lease import leases
from harness.processes import table
from harness.processes.records import RECORDS, read_records
from results.records.folder import RunFolder

CLEANED = "cleaned.jsonl"
"""In the run folder: what a watcher found and removed."""
WATCHED = "FENCEPOST_WATCHED"
"""The run, in the environment of its watcher."""
ROOT = Path(__file__).resolve().parents[2]
_SCRIPT = 'read -r said && [ "$said" = ended ] || exec "$@"'
_BY_HAND = "story: by-hand"
"""A line of the plan of a cluster that is broken by hand, which nobody judges."""
_GONE_WITHIN = 30.0
"""Seconds that a harness which is dying may take to let go of its locks."""
_OVER_WITHIN = 5.0


class Watcher:
    """Enter it before anything of the run is made outside its folder, and leave it after all of it is gone."""

    def __init__(self, run: Path) -> None:
        self._run = run.resolve()

    def __enter__(self) -> Self:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "fencepost-watcher", sys.executable, "-m", __name__, str(self._run)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), WATCHED: str(self._run)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """What could not be ended, or came late to something given up, is the watcher's once the run is over."""
        assert self._process.stdin is not None
        orderly = not _left(self._run)
        with suppress(OSError), self._process.stdin as pipe:  # the watcher was killed: nothing to tell
            if orderly:
                pipe.write(b"ended\n")
        if orderly:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_OVER_WITHIN)


def main(run: Path) -> None:
    """Clean up after a harness that died, and say in the run folder what there was."""
    deadline = time.monotonic() + _GONE_WITHIN
    while is_alive(run) and time.monotonic() < deadline:
        time.sleep(0.05)
    try:
        cleaned = clean(run)
    except UsageError as error:
        if has_records(run):
            _note(run, {"problems": [str(error)]})
        return
    _note(run, {"found": list(map(str, cleaned.found)), "problems": list(cleaned.problems)})
    _judge(RunFolder(run))


def _judge(folder: RunFolder) -> None:
    """So that each run that was judged by somebody has a verdict: this one is `infrastructure`, cut short."""
    if folder.verdict.exists() or not folder.plan.is_file() or _BY_HAND in folder.plan.read_text().splitlines():
        return
    from harness.judge import judge_folder
    from harness.report import write_report

    try:
        judge_folder(folder)
        write_report(folder)
    except Exception as error:
        _note(folder.path, {"problems": [f"no verdict could be given: {error!r}"]})


def _left(run: Path) -> bool:
    """Whether records or leases name something still: quick, for every run asks."""
    started = (record.identity for record in read_records(run / RECORDS))
    return bool(
        any(identity is not None and table.is_alive(identity) for identity in started)
        or read_resources(run)
        or any(lease.run == run for lease in leases())
    )


def _note(run: Path, said: dict[str, object]) -> None:
    with suppress(OSError), (run / CLEANED).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"wall": round(time.time(), 3), **said}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
