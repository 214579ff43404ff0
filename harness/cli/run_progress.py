"""The place of a run in its plan and about how long it still takes, from the last complete run of the same plan."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.harness.cli.eta import about_left
from fencepost.harness.plan import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.prose import steps_in_words
from fencepost.results.records.events import CONVERGE
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal

HEALING = "healing"
"""The step that the engine reports while it heals all faults."""
_STARTING = "starting the cluster"


@dataclass(frozen=True)
class EarlierRun:
    """Timings of an earlier run of the plan: the start of each step and the duration of all, in seconds."""

    begun: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None


@dataclass
class RunProgress:
    """Renders the place of a run and the time left: `2/7  node-4 is paused   10 s   about 13 s left`.

    `steps` has the steps in words, by name.
    """

    steps: Mapping[str, str]
    earlier: EarlierRun = field(default_factory=EarlierRun)
    began: float = field(default_factory=time.monotonic)
    _step: str = _STARTING
    _since: float = field(default_factory=time.monotonic)
    _proven: bool = False

    @classmethod
    def of(cls, plan: Plan, runs: Path, expected: float | None = None) -> RunProgress:
        """`expected`: the usual seconds of the scenario, for a plan without an earlier run in `runs`."""
        return cls(steps_in_words(plan), last_complete_run(runs, plan_hash(plan)) or EarlierRun(seconds=expected))

    def enter(self, step: str, proof: str | None = None) -> str:
        """Note that a step begins now, or that its fault is proven. Return the line of a log about it."""
        if proof is None:
            self._step, self._since, self._proven = step, time.monotonic(), False
        else:
            self._proven = True
        named = f"   [{step}]" if step in self.steps else ""
        what = f"{self._place()}{self.steps.get(step, step)}{named}"
        if proof is not None:
            what = f"{' ' * len(self._place())}proven: {proof}"
        return f"{time.monotonic() - self.began:6.1f} s  {what}"

    def words(self, step: str | None) -> str:
        """Return a step in words."""
        return self.steps.get(step or "", step or "")

    def _place(self) -> str:
        if self._step not in self.steps:
            return ""
        return f"{[*self.steps].index(self._step) + 1:>{len(str(len(self.steps)))}}/{len(self.steps)}  "

    def left(self) -> float | None:
        """Return the seconds left; None without an estimate, or if the run already takes longer than that."""
        if self.earlier.seconds is None:
            return None
        began = self.earlier.begun.get(self._step)
        now = time.monotonic()
        passed = now - self.began if began is None else began + now - self._since
        left = self.earlier.seconds - passed
        return left if left > 0 else None

    def __str__(self) -> str:
        what = self.steps.get(self._step, self._step) + (", proven" if self._proven else "")
        parts = f"{self._place()}{what}", f"{time.monotonic() - self.began:.0f} s", about_left(self.left())
        return "   ".join(filter(None, parts))

    def __rich__(self) -> str:
        return str(self)


def last_complete_run(runs: Path, plan_hash: str) -> EarlierRun | None:
    """Return the timings of the latest run of this plan in `runs` that came to its end, or None."""
    try:
        found = list(runs.glob(f"*-{plan_hash[:8]}*/verdict.json"))
    except OSError:  # a place that cannot be one is refused with a message before the run
        return None
    of_plan = sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
    for verdict in of_plan:
        if not (path := RunFolder(verdict.parent).journal).is_file():
            continue
        journal = read_journal(path)
        if journal.finished:
            begun = {event.id: event.t for event in journal.of("step", "begin")}
            if CONVERGE in begun:
                begun[HEALING] = begun[CONVERGE]
            return EarlierRun(begun, journal.duration)
    return None
