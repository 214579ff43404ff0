"""A watcher beside each run: when its harness dies, it cleans up exactly that run, and ends.

It is a shell that reads from a pipe, without memory use or wake-ups. The harness reports an orderly end through the
pipe. When the harness dies, the kernel closes the pipe, and the shell becomes a Python process that cleans up. It
leads a session of its own, so neither Ctrl-C nor a closed terminal reaches it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.harness.network.lease import leases
from fencepost.harness.processes import table
from fencepost.harness.processes.records import RECORDS, read_records
from fencepost.harness.processes.resources import read_resources

CLEANED = "cleaned.jsonl"
"""The file in the run folder with the leftovers that a watcher removed."""
WATCHED = "FENCEPOST_WATCHED"
"""The run, in the environment of its watcher."""
AFTERMATH = "fencepost.harness.engine.aftermath"
"""The program that the watcher becomes; it imports the judge and the report, which stand above this package."""
ROOT = Path(__file__).parents[3]
_SCRIPT = 'read -r said && [ "$said" = ended ] || exec "$@"'
_OVER_WITHIN = 5.0


class Watcher:
    """Enter it before anything of the run is made outside its folder, and leave it after all of it is gone."""

    def __init__(self, run: Path) -> None:
        self._run = run.resolve()

    def __enter__(self) -> Self:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "fencepost-watcher", sys.executable, "-m", AFTERMATH, str(self._run)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), WATCHED: str(self._run)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the watcher if nothing is left; else let it clean up once the harness has ended."""
        assert self._process.stdin is not None
        orderly = not _left(self._run)
        with suppress(OSError), self._process.stdin as pipe:  # the watcher was killed: nothing to tell
            if orderly:
                pipe.write(b"ended\n")
        if orderly:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_OVER_WITHIN)


def _left(run: Path) -> bool:
    """Return whether records or leases still name something; fast, since every run calls it."""
    started = (record.identity for record in read_records(run / RECORDS))
    return bool(
        any(identity is not None and table.is_alive(identity) for identity in started)
        or read_resources(run)
        or any(lease.run == run for lease in leases())
    )
