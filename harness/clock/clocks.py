"""Wall clocks of nodes: given to their processes at the start, set while they run, and measured from inside.

`set` writes the file that the node's process has mapped. `read` measures twice. A probe process with the same library
and file reads its wall clock and its monotonic clock: their difference, less the same difference in this process, is
the offset of that wall clock, to a few microseconds. That proves the effect of the file, but on another process. So the
memory map of the node's process must show library and file, and what that process last received, as the library
recorded it, must agree. For a process that never queries the time the map alone is the proof.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from fencepost.faults.capabilities import CapabilityError, ClockReading, ProcessStatus, Running
from fencepost.harness.clock.file import ClockFile
from fencepost.harness.clock.library import library
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.layout import Layout, Node
from fencepost.harness.targets.target import Installation

FILE = "clock"
PRELOAD, FILE_OF_MINE, NO_TRACE = "LD_PRELOAD", "FENCEPOST_CLOCK", "FENCEPOST_CLOCK_PROBE"
_PROBE_WITHIN = 20.0
_SAMPLES = 5
_PROBE = f"""
import time
for _ in range({_SAMPLES}):
    print(time.monotonic_ns(), time.time_ns(), time.monotonic_ns())
"""


class NodeClocks:
    """Implements `fencepost.faults.capabilities.Clocks`, and prepares nodes whose plan says `clock: own`."""

    def __init__(self, layout: Layout, installation: Installation, status: Callable[[str], ProcessStatus]) -> None:
        self._layout = layout
        self._installation = installation
        self._status = status

    def prepare(self, node: Node) -> None:
        if node.clock == "own":
            library()
            self._file(node).make()

    def environment(self, node: Node) -> Mapping[str, str]:
        if node.clock != "own":
            return {}
        return {PRELOAD: str(library()), FILE_OF_MINE: str(self._file(node).path)}

    def set(self, node: str, ahead_ms: int, rate_ppm: int = 0) -> None:
        self._file(self._own(node)).set(ahead_ms * 1_000_000, rate_ppm)

    def read(self, node: str) -> ClockReading:
        described = self._own(node)
        file = self._file(described)
        setting, now, wall = file.setting(), time.monotonic_ns(), time.time_ns()
        # The last answer is no older than the setting, and no younger than now.
        held_ns = now - setting.anchor_ns
        answer_range = (
            ((setting.last_answer_ns - wall) / 1e6, (setting.last_answer_ns - (wall - held_ns)) / 1e6)
            if setting.query_count
            else None
        )
        ahead_ms, at = self._probe(described)
        return ClockReading(ahead_ms, at, self._unfollowed(described), setting.query_count, answer_range)

    def _probe(self, node: Node) -> tuple[float, float]:
        """Return by how much the wall clock is ahead, in milliseconds, and the monotonic time of the reading."""
        environment = {**os.environ, **self.environment(node), NO_TRACE: "1"}
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", _PROBE],
                env=environment,
                capture_output=True,
                text=True,
                timeout=_PROBE_WITHIN,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise InfrastructureError(
                f"the wall clock of {node.name} could not be read within {_PROBE_WITHIN:g} s: the machine is overloaded"
            ) from None
        if done.returncode != 0:
            raise InfrastructureError(f"the wall clock of {node.name} could not be read: {done.stderr.strip()[-300:]}")
        theirs, at = _wall_less_monotonic([tuple(map(int, line.split())) for line in done.stdout.splitlines()])
        ours, _ = _wall_less_monotonic(
            [(time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(_SAMPLES)]
        )
        return (theirs - ours) / 1e6, at / 1e9

    def _unfollowed(self, node: Node) -> str | None:
        status = self._status(node.name)
        if status.running not in (Running.RUNNING, Running.PAUSED):
            return f"{node.name} has no process: it is {status.running.value}"
        try:
            mapped = Path(f"/proc/{status.pid}/maps").read_text()
        except OSError as error:
            return f"the memory map of {node.name} (pid {status.pid}) cannot be read: {error.strerror}"
        for path in (library(), self._file(node).path):
            if not _maps(mapped, path):
                return f"the process of {node.name} (pid {status.pid}) has not loaded {path}"
        return None

    def _own(self, node: str) -> Node:
        described = self._layout.node(node)
        if described.clock != "own":
            raise CapabilityError(f"{node} reads the machine's wall clock: give it `clock: own` in the plan's topology")
        return described

    def _file(self, node: Node) -> ClockFile:
        return ClockFile(self._installation.home(node) / FILE)


def _maps(mapped: str, path: Path) -> bool:
    """By number and name: in a container the same file may hang at another path."""
    number = str(path.stat().st_ino)
    return any(
        len(words) == 6 and words[4] == number and words[5].endswith(f"/{path.name}")
        for words in (line.split(maxsplit=5) for line in mapped.splitlines())
    )


def _wall_less_monotonic(samples: list[tuple[int, ...]]) -> tuple[float, float]:
    """The difference and its time, from the sample that was interrupted least; nanoseconds."""
    before, wall, after = min(samples, key=lambda sample: sample[2] - sample[0])
    middle = (before + after) / 2
    return wall - middle, middle
