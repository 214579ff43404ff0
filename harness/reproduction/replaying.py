"""The same plan, run several times, and how often it fails as before."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any

from fencepost.harness.engine.living import CHAIN, saved_plans
from fencepost.harness.engine.run import RunInterrupt
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.file import load_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.harness.reproduction.signature import FailureSignature
from fencepost.harness.targets.reference import with_defect
from fencepost.harness.targets.registry import open_run
from fencepost.results.records.folder import FolderError, RunFolder
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.verdict import RunVerdict, Verdict

RunPlan = Callable[[Plan], tuple[RunFolder, RunVerdict]]
"""Runs a plan and judges it."""


def chain_beside(file: Path) -> Path:
    """Return the folder with the plans that are to run on one cluster before that of a plan file."""
    return file.with_suffix(f".{CHAIN}")


@dataclass(frozen=True)
class Original:
    """The plan to replay. `failure` is how it failed before; None if it did not, or if that is not known."""

    plan: Plan
    source: Path
    runs: Path
    """The folder for the new run folders."""
    backend: str | None = None
    """The backend of the original run."""
    failure: FailureSignature | None = None
    planted_defect: str = ""
    """The mutant that the nodes of the original run had."""
    chain: tuple[Plan, ...] = ()
    """The plans that ran before on the cluster of the original run."""

    @classmethod
    def read(cls, what: Path, runs: Path = Path("runs")) -> Original:
        """Read a run folder or a plan file. Raises UsageError, FolderError or PlanError."""
        if not what.exists():
            raise UsageError(f"there is no run folder {what}")
        if what.is_file():
            return cls(load_plan(what), what, runs, chain=saved_plans(chain_beside(what)))
        folder = open_run(what)
        failure = None
        if (before := stored_verdict(folder)) is not None:
            signature = FailureSignature.of(before)
            failure = signature if signature.fails else None
        manifest = folder.try_manifest()
        backend, defect = (manifest.backend, manifest.planted_defect) if manifest is not None else (None, "")
        chain = saved_plans(folder.path / CHAIN)
        return cls(load_plan(folder.plan), what, what.resolve().parent, backend, failure, defect, chain)


def stored_verdict(folder: RunFolder) -> RunVerdict | None:
    """Return the stored verdict; None if the harness died before it judged. FolderError if it is unreadable."""
    if not folder.verdict.is_file():
        return None
    try:
        return RunVerdict.load(folder.verdict)
    except (OSError, ValueError) as error:
        raise FolderError(
            f"{folder.verdict} is not a verdict that this version can read ({error}): remove it"
        ) from None


@dataclass(frozen=True)
class Replay:
    """One run of the plan. `seconds`: wall time, with the start of the cluster."""

    folder: RunFolder
    verdict: RunVerdict
    seconds: float

    @property
    def signature(self) -> FailureSignature:
        return FailureSignature.of(self.verdict)


@dataclass
class Replays:
    """All runs so far. An infrastructure run says nothing about the target and does not count."""

    original: Original
    wanted: int
    backend: str
    done: list[Replay] = field(default_factory=list)
    interrupted: bool = False

    @property
    def counting(self) -> list[Replay]:
        """The runs that count; all of them if the original failure was infrastructure itself."""
        expected = self.original.failure
        if expected is not None and expected.verdict is Verdict.INFRASTRUCTURE:
            return self.done
        return [replay for replay in self.done if replay.verdict.verdict is not Verdict.INFRASTRUCTURE]

    def as_before(self, replay: Replay) -> bool:
        """Return whether a run failed as the original did; if that is not known, whether it is a violation."""
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
        """The number of runs that broke each rule."""
        counted: Counter[str] = Counter()
        for replay in self.counting:
            counted.update(replay.signature.broken if self.as_before(replay) else ())
        return counted

    @property
    def worst(self) -> Verdict:
        verdicts = [replay.verdict.verdict for replay in self.done]
        return Verdict.worst([*verdicts, Verdict.INFRASTRUCTURE] if self.interrupted else verdicts)

    def message(self) -> str:
        """Return how often the plan failed, with the 95 % interval of the rate."""
        others = [f"{count} {verdict.value}" for verdict in Verdict if (count := self.verdicts[verdict])]
        if not self.counting:
            return f"no run says anything about the target: {', '.join(others) or 'no run came to its end'}"
        low, high = self.interval
        what = "failed as before" if self.original.failure else "failed"
        text = f"{self.hits} of {len(self.counting)} {what} (95 % interval {low:.0%} to {high:.0%})"
        return f"{text}: {', '.join(others)}"

    def _replay_command(self) -> str:
        """Return the command that repeats this; a plan file does not name the planted defect, a run folder does."""
        command = replay_command(self.original.source)
        return with_defect(command) if self.original.source.is_file() else command

    def to_json(self) -> dict[str, Any]:
        low, high = self.interval
        return {
            "format": "fencepost-replay/1",
            "of": str(self.original.source),
            "scenario": self.original.plan.scenario,
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
            "replay": self._replay_command(),
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
    """Run the plan `wanted` times, or until an interrupt; yield each run as it ends."""
    while len(replays.done) < replays.wanted:
        began = time.monotonic()
        try:
            folder, verdict = run(replays.original.plan)
        except RunInterrupt:
            replays.interrupted = True
            return
        made = Replay(folder, verdict, time.monotonic() - began)
        replays.done.append(made)
        yield made


def wilson(hits: int, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval for the rate behind `hits` of `runs`; (0, 1) without any runs.

    It keeps its level for few runs and for rates near 0 and 1, where the textbook interval collapses to a point.
    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927.
    """
    if not 0 <= hits <= runs:
        raise ValueError(f"{hits} of {runs} runs is not a count")
    if runs == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate, weight = hits / runs, z * z / runs
    centre = (rate + weight / 2) / (1 + weight)
    half_width = z * sqrt(rate * (1 - rate) / runs + weight / runs / 4) / (1 + weight)
    # At the ends the terms cancel; the rounding error that is left would exclude the measured rate.
    return 0.0 if hits == 0 else centre - half_width, 1.0 if hits == runs else centre + half_width
