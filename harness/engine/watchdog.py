"""The end of a run that hangs: its process ends, and the run's watcher cleans up and judges what was seen.

Calls into client libraries have deadlines of their own (`fencepost.harness.calls`), and steps wait within that of the
run. The watchdog is for all else: whatever the run is in then stands in the journal.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from fencepost.harness.calls import whereabouts
from fencepost.harness.plan.model import Plan
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalError, JournalWriter
from fencepost.results.records.verdict import Verdict

OVERDUE = 120.0
"""Seconds beyond the latest end of a plan after which the program that started its process interrupts it."""
GRACE = 60.0
"""Seconds that a run has then, or after another interrupt, to stop and be judged. Then its process is killed."""
JUDGED = 90.0
"""Seconds in which the watcher of a run that died cleans up and judges it."""
GRACE_SECONDS = 240.0
"""Seconds for what a plan's deadline does not count: the start and the end of the cluster, and reading everything."""
STUCK_SECONDS = 30.0
"""Seconds after which the process ends even if no thread of it can run."""


def latest_end(plan: Plan) -> float:
    """Return the seconds from the first start of a node within which a run is over, whatever it waits for."""
    return plan.deadline_ms / 1000 + 2 * plan.prepared_seconds + GRACE_SECONDS


class Watchdog:
    """Ends this process if the run that entered it is not left in time. It counts from `arm`.

    `tell` gets the message about that.
    """

    def __init__(self, folder: RunFolder, journal: JournalWriter, tell: Callable[[str], None]) -> None:
        self._folder = folder
        self._tell = tell
        self._journal = journal
        self._run = threading.get_ident()
        self._seconds = 0.0
        self._timer: threading.Timer | None = None

    def arm(self, seconds: float) -> None:
        """Let the run be over after so many seconds."""
        self._seconds = seconds
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._timer.start()
        faulthandler.dump_traceback_later(seconds + STUCK_SECONDS, file=sys.__stderr__ or sys.stderr, exit=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            faulthandler.cancel_dump_traceback_later()

    def _end(self) -> None:
        call, since = whereabouts(self._run)
        message = f"the run was not over {self._seconds:g} s after its start, and was ended: {call} has not returned"
        with suppress(JournalError, OSError):
            self._tell(message)
            self._journal.hangs(message, min(time.monotonic() - since, self._seconds))
        print(f"fencepost: {message}; see {self._folder.path}", file=sys.stderr, flush=True)
        os._exit(Verdict.INFRASTRUCTURE.exit_code)
