"""The standing of a defect on a design: what the record says of it, and what is to be tried next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.mutants.catalogue import DEFECTS
from tests.mutants.defect import Defect
from tests.mutation.record import Outcome, Stage, Trial
from tests.mutation.trials import asking, possible

ATTEMPTS = 3
"""Trials after which one that said nothing is not repeated."""


@dataclass
class Standing:
    """A row of the table. The newest trial of a kind counts."""

    defect: Defect
    design: str
    trials: list[Trial] = field(default_factory=list)

    def concerned_by(self, trial: Trial) -> bool:
        """Return whether the trial says something of this row; a unit test says the same of all designs."""
        return trial.defect == self.defect.name and (trial.stage is Stage.UNIT or trial.design == self.design)

    def of(self, *stages: Stage) -> list[Trial]:
        """Return the newest trial of each test, scenario or campaign in these stages."""
        return list({(each.stage, each.how): each for each in self.trials if each.stage in stages}.values())

    def caught(self, *stages: Stage) -> Trial | None:
        return next((each for each in self.of(*stages) if each.outcome is Outcome.CAUGHT), None)

    @property
    def caught_from_outside(self) -> Trial | None:
        """The scenario or the campaign that caught it."""
        return self.caught(Stage.ASKED, Stage.REST, Stage.CAMPAIGN)

    @property
    def survived(self) -> bool:
        """True if all scenarios and a campaign were run, and none caught it."""
        tried = not any(self.left(stage) for stage in (Stage.ASKED, Stage.REST, Stage.CAMPAIGN))
        return tried and self.caught_from_outside is None

    @property
    def withstood(self) -> bool:
        """True if none of the scenarios that ask its rules has caught it; the others or a campaign may be left."""
        tried = bool(self.tried(Stage.ASKED)) and not self.left(Stage.ASKED)
        judged = any(each.outcome is Outcome.MISSED for each in self.of(Stage.ASKED, Stage.REST))
        return tried and judged and self.caught_from_outside is None

    def left(self, stage: Stage) -> list[str]:
        """Return what is not tried yet in a stage: scenarios, or the name of the stage.

        A trial that says nothing is repeated twice. A defect that was caught from outside needs no further one.
        """
        if stage is Stage.UNIT:
            return [] if self.of(Stage.UNIT) else [Stage.UNIT.value]
        if self.caught_from_outside is not None:
            return []
        if stage is Stage.CAMPAIGN:
            tried = self.tried(stage)
            said = any(each.outcome is not Outcome.UNJUDGED for each in tried)
            return [] if said or len(tried) >= ATTEMPTS else [stage.value]
        asked, rest = asking(self.defect, self.design)
        judged = {each.how for each in self.of(Stage.ASKED, Stage.REST) if each.outcome is not Outcome.UNJUDGED}
        often = [each.how for each in self.trials if each.outcome is Outcome.UNJUDGED]
        slugs = asked if stage is Stage.ASKED else rest
        return [slug for slug in slugs if slug not in judged and often.count(slug) < ATTEMPTS]

    def tried(self, stage: Stage) -> list[Trial]:
        """Return all trials of a stage, also those that were repeated."""
        return [each for each in self.trials if each.stage is stage]

    def seconds(self, stage: Stage) -> float:
        """Return about how long the next scenario of a stage runs; 0 for unit tests and campaigns."""
        scenarios = possible(self.design)
        return next((float(scenarios[slug].seconds) for slug in self.left(stage) if slug in scenarios), 0.0)


def standings(trials: Iterable[Trial]) -> list[Standing]:
    """Return a standing for each defect and design of the catalogue."""
    rows = [Standing(defect, design) for defect in DEFECTS.values() for design in defect.designs]
    for trial in trials:
        for row in rows:
            if row.concerned_by(trial):
                row.trials.append(trial)
    return rows


def share(of: Iterable[Standing]) -> Iterator[tuple[str, int]]:
    """Yield the numbers of the summary."""
    rows = list(of)
    yield "defects on their designs", len(rows)
    yield "caught by a unit test", sum(each.caught(Stage.UNIT) is not None for each in rows)
    yield "caught by a scenario", sum(each.caught(Stage.ASKED, Stage.REST) is not None for each in rows)
    yield (
        "caught by a campaign alone",
        sum(each.caught(Stage.CAMPAIGN) is not None and each.caught(Stage.ASKED, Stage.REST) is None for each in rows),
    )
    survived = [each for each in rows if each.survived]
    withstood = [each for each in rows if each.withstood and not each.survived]
    caught = [each for each in rows if each.caught_from_outside is not None]
    yield "survived all scenarios and a campaign", len(survived)
    yield "survived the scenarios that ask its rules; the others and a campaign are not run yet", len(withstood)
    yield "not run that far yet", len(rows) - len(survived) - len(withstood) - len(caught)
