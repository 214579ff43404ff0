"""The time that runnable nodes waited for a processor, and the time that they had one.

The kernel counts both for each thread (`run_delay` and the time on a processor, the second and first field of
/proc/PID/task/TID/schedstat, in nanoseconds). They are exact, unlike a load average, and a process that is paused or
sleeps does not wait. A process waits as its worst thread does, and uses what all its threads do; those that ended
between two looks are in the sum of /proc/PID/stat alone. Neither counts the compilers of a JVM: no protocol deadline
depends on them, and what they use is no work of the node.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.harness.processes.table import PROC, processor_time
from fencepost.results.records.journal import JournalWriter

EVERY = 1.0
"""Seconds between two looks."""
LEAST = 0.05
"""The share of that time below which a delay is not recorded."""
_COMPILERS = ("C1 Comp", "C2 Comp")

Pids = Callable[[], Mapping[str, int]]


@dataclass(frozen=True)
class ProcessorTimes:
    """Processor time and waits of a process since it began, in seconds; empty where the kernel says nothing."""

    waited: Mapping[int, float]
    """By each thread that is no compiler."""
    total: float = 0.0
    """The use of all threads, those that have ended included."""
    compilers: Mapping[int, float] = field(default_factory=dict)
    """The use of each compiler."""

    @property
    def used(self) -> float:
        return max(0.0, self.total - sum(self.compilers.values()))

    def since(self, before: ProcessorTimes) -> tuple[float, float]:
        """Return the time waited and the time used since an earlier look at the same process."""
        waited = max(
            (self.waited[task] - before.waited[task] for task in self.waited.keys() & before.waited), default=0
        )
        compiled = sum(used - before.compilers.get(task, 0.0) for task, used in self.compilers.items())
        return waited, max(0.0, self.total - before.total - compiled)


def processor_times(pid: int) -> ProcessorTimes:
    """Read the processor time and the waits of a process, as far as it and its threads are there."""
    waited, compilers = {}, {}
    total = processor_time(pid)
    try:
        for task in Path(PROC, str(pid), "task").iterdir():
            used, delay = (int(nanoseconds) / 1e9 for nanoseconds in (task / "schedstat").read_text().split()[:2])
            if (task / "comm").read_text().startswith(_COMPILERS):
                compilers[int(task.name)] = used
            else:
                waited[int(task.name)] = delay
    except (OSError, ValueError):  # a process or thread that ended meanwhile
        pass
    return ProcessorTimes(waited, total, compilers)


@dataclass
class WaitingNodes:
    """Writes a `state` event of a node (`what: processor`) whenever it waited: `waited` of the `seconds` before.

    `used` is the processor time that it had meanwhile, `used_before` what its process had since its start.
    """

    pids: Pids
    journal: JournalWriter
    clock: Callable[[], float] = time.monotonic
    _known: dict[str, tuple[int, ProcessorTimes]] = field(default_factory=dict)
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
            times = processor_times(pid)
            known_pid, before = self._known.get(node, (0, times))
            self._known[node] = pid, times
            waited, used = times.since(before)
            if known_pid == pid and waited >= LEAST * seconds > 0:
                data = {"waited": min(waited, seconds), "seconds": seconds, "used": used, "used_before": before.used}
                rounded = {key: round(value, 3) for key, value in data.items()}
                self.journal.write("state", "processor", "seen", {"what": "processor"} | rounded, node=node)

    def _run(self) -> None:
        while not self._over.wait(EVERY):
            self.look()
