"""The same plan several times, and how often it failed as before."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.plan.file import load_plan
from harness.plan.hash import plan_hash
from harness.plan.model import Plan
from harness.reproduction.command import replay_command
from harness.reproduction.interval import wilson
from harness.reproduction.signature import Signature
from harness.run import Interrupted
from results.records.folder import FolderError, Manifest, RunFolder
from results.records.verdict import RunVerdict, Verdict

RunPlan = Callable[[Plan], tuple[RunFolder, RunVerdict]]
"""Runs a plan and judges it."""


@dataclass(frozen=True)
class Original:
    """What is replayed. `failure`: how it failed before; None if it did not, or if nobody knows."""

    plan: Plan
    source: Path
    runs: Path
    """Where the new run folders go."""
    backend: str | None = None
    """The one that it ran on."""
    failure: Signature | None = None

    @classmethod
    def read(cls, what: Path, runs: Path = Path("runs")) -> Original:
        """From a run folder, or from a plan file. UsageError, FolderError or PlanError with a sentence."""
        if not what.exists():
            raise UsageError(f"there is no run folder {what}")
        if what.is_file():
            return cls(load_plan(what), what, runs)
        folder = RunFolder.open(what)
        failure = None
        if (before := stored_verdict(folder)) is not None:
            signature = Signature.of(before)
            failure = signature if signature.fails else None
        return cls(load_plan(folder.plan), what, what.resolve().parent, _backend(folder), failure)


def stored_verdict(folder: RunFolder) -> RunVerdict | None:
    """What was said when the run was over; None if its harness did not live to say it. FolderError if unreadable."""
    if not folder.verdict.is_file():
        return None
    try:
        return RunVerdict.load(folder.verdict)
    except (ValueError, KeyError, TypeError) as error:
        raise FolderError(f"{folder.verdict} is no verdict that this version reads ({error}); remove it") from None


def _backend(folder: RunFolder) -> str | None:
    try:
        return Manifest.load(folder.manifest).backend
    except (OSError, ValueError, TypeError, FolderError):
        return None


@dataclass(frozen=True)
class Replay:
    """One of them. `seconds`: wall time, start of the cluster included."""

    folder: RunFolder
    verdict: RunVerdict
    seconds: float

    @property
    def signature(self) -> Signature:
        return Signature.of(self.verdict)


@dataclass
class Replays:
    """All so far. What is infrastructure says nothing about the target and is not among the `n`."""

    original: Original
    wanted: int
    backend: str
    done: list[Replay] = field(default_factory=list)
    interrupted: bool = False

    @property
    def counting(self) -> list[Replay]:
        """Those that say something; all of them where the failure was infrastructure itself."""
        expected = self.original.failure
        if expected is not None and expected.verdict is Verdict.INFRASTRUCTURE:
            return self.done
        return [replay for replay in self.done if replay.verdict.verdict is not Verdict.INFRASTRUCTURE]

    def as_before(self, replay: Replay) -> bool:
        """Failed as the original did; without one, violated anything."""
        expected = self.original.failure
        if expected is None:
            return replay.verdict.verdict is Verdict.VIOLATION
        return expected.shows_in(replay.signature)

    @property
    def hits(self) -> int:
        return sum(map(self.as_before, self.counting))

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.hits, len(self.counting))

    @property
    def verdicts(self) -> Counter[Verdict]:
        return Counter(replay.verdict.verdict for replay in self.done)

    @property
    def broken(self) -> Counter[str]:
        """How often each rule was broken."""
        counted: Counter[str] = Counter()
        for replay in self.counting:
            counted.update(replay.signature.broken if self.as_before(replay) else ())
        return counted

    @property
    def worst(self) -> Verdict:
        verdicts = [replay.verdict.verdict for replay in self.done]
        return Verdict.worst([*verdicts, Verdict.INFRASTRUCTURE] if self.interrupted else verdicts)

    def sentence(self) -> str:
        others = [f"{count} {verdict.value}" for verdict in Verdict if (count := self.verdicts[verdict])]
        if not self.counting:
            return f"nothing can be said of the target: {', '.join(others) or 'no run came to its end'}"
        low, high = self.interval
        what = "failed as before" if self.original.failure else "failed"
        said = f"{self.hits} of {len(self.counting)} {what} (95 % interval {low:.0%} to {high:.0%})"
        return f"{said}: {', '.join(others)}"

    def to_json(self) -> dict[str, Any]:
        low, high = self.interval
        return {
            "format": "fencepost-replay/1",
            "of": str(self.original.source),
            "story": self.original.plan.story,
            "target": self.original.plan.target,
            "plan_hash": plan_hash(self.original.plan),
            "backend": self.backend,
            "before": self.original.failure and self.original.failure.to_json(),
            "wanted": self.wanted,
            "n": len(self.counting),
            "k": self.hits,
            "interval": [round(low, 4), round(high, 4)],
            "verdicts": {verdict.value: self.verdicts[verdict] for verdict in Verdict},
            "broken": dict(self.broken.most_common()),
            "interrupted": self.interrupted,
            "replay": replay_command(self.original.source),
            "runs": [
                {
                    "run": str(replay.folder.path),
                    "seconds": round(replay.seconds, 2),
                    "as_before": self.as_before(replay),
                    **replay.signature.to_json(),
                }
                for replay in self.done
            ],
        }


def replay(replays: Replays, run: RunPlan) -> Iterator[Replay]:
    """Run the plan until there are as many as wanted, or somebody interrupts; each is told as it ends."""
    while len(replays.done) < replays.wanted:
        began = time.monotonic()
        try:
            folder, verdict = run(replays.original.plan)
        except Interrupted:
            replays.interrupted = True
            return
        made = Replay(folder, verdict, time.monotonic() - began)
        replays.done.append(made)
        yield made
