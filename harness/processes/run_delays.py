"""The time that runnable nodes waited for a processor.

The kernel counts it for each thread (`run_delay`, the second field of /proc/PID/task/TID/schedstat, in nanoseconds). It
is exact, unlike a load average, and a process that is paused or sleeps does not wait. A process counts by its worst
thread, without the compilers of a JVM, on which no protocol deadline depends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from fencepost.harness.processes.table import PROC
from fencepost.results.records.journal import JournalWriter

EVERY = 1.0
"""Seconds between two looks."""
LEAST = 0.05
"""The share of that time below which a delay is not recorded."""
_COMPILERS = ("C1 Comp", "C2 Comp")

Pids = Callable[[], Mapping[str, int]]


def run_delays(pid: int) -> dict[int, float]:
    """Seconds that each thread of a process has waited since it began; empty where the kernel does not say."""
    delays = {}
    try:
        for task in (PROC / str(pid) / "task").iterdir():
            if not (task / "comm").read_text().startswith(_COMPILERS):
                delays[int(task.name)] = int((task / "schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):  # a process or thread that ended meanwhile
        pass
    return delays


@dataclass
class WaitingNodes:
    """Writes a `state` event of a node (`what: processor`) whenever it waited: `waited` of the `seconds` before."""

    pids: Pids
    journal: JournalWriter
    clock: Callable[[], float] = time.monotonic
    _known: dict[str, tuple[int, dict[int, float]]] = field(default_factory=dict)
    _looked: float | None = None
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="waiting-nodes", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def look(self) -> None:
        """Read the delays once. A new process counts from the next call on."""
        now = self.clock()
        seconds = 0.0 if self._looked is None else now - self._looked
        self._looked = now
        for node, pid in self.pids().items():
            delays = run_delays(pid)
            known_pid, before = self._known.get(node, (0, {}))
            self._known[node] = pid, delays
            waited = max((delay - before[task] for task, delay in delays.items() if task in before), default=0.0)
            if known_pid == pid and waited >= LEAST * seconds > 0:
                data = {"what": "processor", "waited": round(min(waited, seconds), 3), "seconds": round(seconds, 3)}
                self.journal.write("state", "processor", "seen", data, node=node)

    def _run(self) -> None:
        while not self._over.wait(EVERY):
            self.look()
