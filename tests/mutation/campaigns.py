"""Defects tried by campaigns alone, without scenarios: which are tried, and what counts as caught."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fencepost.harness.campaign.campaign import NOT_TWICE
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import RunVerdict, Verdict
from tests.mutants.defect import Defect
from tests.mutation.campaign_run import PlanOutcome, is_judged, is_red, plans_until_red
from tests.mutation.record import CampaignTrial, Outcome
from tests.mutation.standing import ATTEMPTS
from tests.mutation.trials import PROGRAM, ROOT, broken_rules, environment_with, in_one_line

Planted = tuple[Defect, str]
"""A defect, and the design that it is planted into."""


def draw(candidates: Sequence[Planted], seed: int, sample: int | None = None) -> Sequence[Planted]:
    """Return `sample` of the candidates, or all, in an order by chance.

    Each draws a number by its name and the seed, and the lowest are the sample. So a smaller sample is the beginning of
    a larger one, and a defect that comes to the catalogue later leaves the others in their order.
    """
    return sorted(candidates, key=lambda planted: number(seed, *planted))[:sample]


def number(seed: int, defect: Defect, design: str) -> int:
    """Return the number that a defect draws on a design; it is the seed of its campaign too."""
    return Random(f"{seed} {defect.name} {design}").randrange(NOT_TWICE)


@dataclass(frozen=True)
class CampaignsAlone:
    """The trials of a draw: of `total` candidates, `sample` are tried, each for `minutes`."""

    runs: Path
    commit: str
    seed: int
    sample: int
    total: int
    minutes: float
    plans_per_cluster: int = 1
    workers: int = 1
    program: Sequence[str] = PROGRAM

    def attempt(self, defect: Defect, design: str) -> CampaignTrial:
        """Run random plans until one is red with the defect and not without, or until the time is up.

        A plan that is red without the defect too is an alarm; a campaign of the next seed takes the time that is left.
        If the machine fails in each replay, the trial says nothing.
        """
        first, plans, seconds = number(self.seed, defect, design), 0, 0.0
        verdict, without, alarms = None, None, 0
        while verdict is None and seconds < self.minutes * 60:
            begun = time.monotonic()
            ended = self._campaign(defect, design, first + alarms, self.minutes - seconds / 60)
            seconds += time.monotonic() - begun
            plans += sum(map(is_judged, ended))
            if (red := next(filter(is_red, ended), None)) is None:
                break
            without = self._replay(Path(red["run"]))
            if without is Verdict.VIOLATION:
                alarms += 1
            else:
                verdict = RunVerdict.load(RunFolder(Path(red["run"])).verdict)
        if verdict is None:
            outcome = Outcome.MISSED if plans > alarms else Outcome.UNJUDGED
        else:
            outcome = Outcome.UNJUDGED if without is Verdict.INFRASTRUCTURE else Outcome.CAUGHT
        return CampaignTrial(
            defect=defect.name,
            design=design,
            commit=self.commit,
            seed=self.seed,
            sample=self.sample,
            total=self.total,
            minutes=self.minutes,
            outcome=outcome,
            plans=plans,
            seconds=round(seconds, 1),
            plan=verdict.scenario if verdict is not None else "",
            without=without.value if without is not None else "",
            alarms=alarms,
            rules=broken_rules(verdict) if verdict is not None else (),
            message=in_one_line(verdict.headline, self.runs) if verdict is not None else "",
            load=round(os.getloadavg()[1] / (os.cpu_count() or 1), 1),
            plans_per_cluster=self.plans_per_cluster,
            workers=self.workers,
        )

    def _campaign(self, defect: Defect, design: str, seed: int, minutes: float) -> Sequence[PlanOutcome]:
        runs = self.runs / f"{defect.name}-{design}-alone"
        command = [*self.program, "campaign", design, "--minutes", str(minutes), "--seed", str(seed)]
        command += ["--plans-per-cluster", str(self.plans_per_cluster), "--workers", str(self.workers)]
        command += ["--runs", str(runs)]
        return plans_until_red(command, runs, ROOT, environment_with(defect))

    def _replay(self, run: Path) -> Verdict:
        """Return the verdict of the same plan on a healthy cluster; it is repeated twice if the machine fails."""
        command = [*self.program, "replay", str(run), "--runs", str(run.parent / "without"), "--json"]
        for _ in range(ATTEMPTS):
            ended = subprocess.run(command, cwd=ROOT, env=environment_with(None), capture_output=True, check=False)
            verdict = Verdict(json.loads(ended.stdout)["runs"][0]["verdict"])
            if verdict is not Verdict.INFRASTRUCTURE:
                break
        return verdict
