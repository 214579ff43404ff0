"""How far each story is, as JSON lines for whoever shows it live.

`$FENCEPOST_PROGRESS` names the file; without it nothing is written. Several test processes append to the same file, one
line a write. A line: {"story", "title", "requirements", "phase", "step", "verdict", "seconds", "run", "headline"};
`phase` is queued, starting, running, step, done or skipped, and what is not known yet is null. `seconds` counts from
the start of the story.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

VARIABLE = "FENCEPOST_PROGRESS"


class Phase(StrEnum):
    QUEUED = "queued"
    STARTING = "starting"
    """The cluster starts."""
    RUNNING = "running"
    """The steps begin."""
    STEP = "step"
    DONE = "done"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Line:
    """One line; `headline` of a skipped story is the reason."""

    story: str
    title: str
    requirements: tuple[str, ...]
    phase: Phase
    step: str | None = None
    verdict: str | None = None
    seconds: float | None = None
    run: str | None = None
    headline: str | None = None


class Progress:
    """Of one story. Without a file every call does nothing."""

    def __init__(self, story: str, title: str, requirements: Sequence[str], file: Path | None) -> None:
        self._story = (story, title, tuple(requirements))
        self._file = file
        self._begun = time.monotonic()
        self.steps: tuple[str, ...] = ()
        """Of its plan, once that is known: a step is told as `3/12  cut` then."""

    @classmethod
    def from_environment(cls, story: str, title: str, requirements: Sequence[str]) -> Progress:
        named = os.environ.get(VARIABLE)
        return cls(story, title, requirements, Path(named) if named else None)

    def tell(
        self,
        phase: Phase,
        *,
        step: str | None = None,
        verdict: str | None = None,
        run: str | None = None,
        headline: str | None = None,
    ) -> None:
        if self._file is None:
            return
        if step in self.steps:
            step = f"{self.steps.index(step) + 1}/{len(self.steps)}  {step}"
        seconds = round(time.monotonic() - self._begun, 2)
        line = Line(*self._story, phase, step, verdict, seconds, run, headline)
        data = (json.dumps(asdict(line)) + "\n").encode()
        with self._file.open("ab", buffering=0) as file:
            file.write(data)


def new_lines(file: IO[str]) -> Iterator[dict[str, Any]]:
    """The whole lines that were added since the last call; half a line waits for its rest."""
    while True:
        at = file.tell()
        line = file.readline()
        if not line.endswith("\n"):
            file.seek(at)
            return
        yield json.loads(line)
