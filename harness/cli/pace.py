"""How far a run is and about how long it still takes: from the last whole run of the same plan, where there is one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.plan import plan_hash
from harness.plan.model import Plan
from results.records.events import CONVERGE
from results.records.folder import RunFolder
from results.records.journal import read_journal

HEALING, READING = "healing", "reading everything"
_STARTING = "starting the cluster"


@dataclass(frozen=True)
class Earlier:
    """When each step of an earlier run began, in seconds since it did, and how long all of it took."""

    begun: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None


@dataclass
class RunPace:
    """Told each step when it begins; says where the run is, as of now."""

    steps: tuple[str, ...]
    earlier: Earlier = field(default_factory=Earlier)
    began: float = field(default_factory=time.monotonic)
    _step: str = _STARTING
    _since: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, plan: Plan, runs: Path, expected: float | None = None) -> RunPace:
        """`expected`: seconds that the story is known to take, for a plan that was never run here."""
        steps = tuple(plan.step_name(place) for place in range(len(plan.steps)))
        return cls(steps, last_whole(runs, plan_hash(plan)) or Earlier(seconds=expected))

    def enter(self, step: str) -> None:
        self._step, self._since = step, time.monotonic()

    def left(self) -> float | None:
        """Seconds; None if nothing is known, or if it takes longer than it ever did."""
        if self.earlier.seconds is None:
            return None
        began = self.earlier.begun.get(self._step)
        now = time.monotonic()
        passed = now - self.began if began is None else began + now - self._since
        left = self.earlier.seconds - passed
        return left if left > 0 else None

    def __str__(self) -> str:
        place = f"{self.steps.index(self._step) + 1}/{len(self.steps)}  " if self._step in self.steps else ""
        left = self.left()
        about = "" if left is None else f"   about {_rounded(left)} left"
        return f"{place}{self._step}   {time.monotonic() - self.began:.0f} s{about}"

    def __rich__(self) -> str:
        return str(self)


def last_whole(runs: Path, plan_hash: str) -> Earlier | None:
    """The latest run of this plan in `runs` that came to its end."""
    of_plan = sorted(runs.glob(f"*-{plan_hash[:8]}*/verdict.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for verdict in of_plan:
        if not (path := RunFolder(verdict.parent).journal).is_file():
            continue
        journal = read_journal(path)
        if journal.finished:
            begun = {event.id: event.t for event in journal.of("step", "begin")}
            if CONVERGE in begun:
                begun[HEALING] = begun[CONVERGE]
            return Earlier(begun, journal.duration)
    return None


def _rounded(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
