"""The progress of each scenario, as JSON lines for a live display.

`$FENCEPOST_PROGRESS` names the file; without it nothing is written. Several test processes append to the same file, one
line a write. A line: {"scenario", "title", "requirements", "phase", "step", "verdict", "seconds", "run", "headline"};
`phase` is queued, starting, running, step, done or skipped; fields that are not known yet are null. `seconds` counts
from the start of the scenario.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

VARIABLE = "FENCEPOST_PROGRESS"


class Phase(StrEnum):
    """The phase of a scenario."""

    QUEUED = "queued"
    STARTING = "starting"
    """The cluster starts."""
    RUNNING = "running"
    """The steps begin."""
    STEP = "step"
    DONE = "done"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class ProgressLine:
    """One line of the file; the `headline` of a skipped scenario is the reason."""

    scenario: str
    title: str
    requirements: tuple[str, ...]
    phase: Phase
    step: str | None = None
    verdict: str | None = None
    seconds: float | None = None
    run: str | None = None
    headline: str | None = None


class Progress:
    """Reports the progress of one scenario. Without a file each call does nothing."""

    def __init__(self, scenario: str, title: str, requirements: Sequence[str], file: Path | None) -> None:
        self._scenario = (scenario, title, tuple(requirements))
        self._file = file
        self._begun = time.monotonic()
        self.steps: Mapping[str, str] = {}
        """The steps of its plan in words, by name: with them a step is reported as `3/12  Wait until ...`."""

    @classmethod
    def from_environment(cls, scenario: str, title: str, requirements: Sequence[str]) -> Progress:
        named = os.environ.get(VARIABLE)
        return cls(scenario, title, requirements, Path(named) if named else None)

    def report(
        self,
        phase: Phase,
        *,
        step: str | None = None,
        proof: str | None = None,
        verdict: str | None = None,
        run: str | None = None,
        headline: str | None = None,
    ) -> None:
        """Append a line for the phase. `proof`: the fault of the step is proven now."""
        if self._file is None:
            return
        if step is not None and step in self.steps:
            step = f"{[*self.steps].index(step) + 1}/{len(self.steps)}  {self.steps[step]}{', proven' if proof else ''}"
        seconds = round(time.monotonic() - self._begun, 2)
        line = ProgressLine(*self._scenario, phase, step, verdict, seconds, run, headline)
        data = (json.dumps(asdict(line)) + "\n").encode()
        with self._file.open("ab", buffering=0) as file:
            file.write(data)


def new_lines(file: IO[str]) -> Iterator[dict[str, Any]]:
    """Yield the complete lines that were added since the last call; an incomplete one is left for the next call."""
    while True:
        at = file.tell()
        line = file.readline()
        if not line.endswith("\n"):
            file.seek(at)
            return
        yield json.loads(line)
