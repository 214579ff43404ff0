"""The record of the mutation run: a line of JSON for each trial, appended as it ends."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

TRIALS = Path(__file__).with_name("trials.jsonl")
CLEAN_PLANS = Path(__file__).with_name("clean_plans.jsonl")
CAMPAIGNS = Path(__file__).with_name("campaigns.jsonl")


class Stage(StrEnum):
    """The stages of the run, in order. A defect that one of the last three has caught needs no later one."""

    UNIT = "unit"
    ASKED = "asked"
    """The scenarios of the catalogue of defects, and all others that ask a rule which the defect breaks."""
    REST = "rest"
    """All other scenarios of the design."""
    CAMPAIGN = "campaign"


class Outcome(StrEnum):
    CAUGHT = "caught"
    MISSED = "missed"
    UNJUDGED = "unjudged"
    """The trial says nothing: it was inconclusive, or the machine failed."""


@dataclass(frozen=True)
class Trial:
    """One attempt to catch a defect. `how` is the test, the scenario, or the seed of the campaign's plan."""

    defect: str
    design: str
    stage: Stage
    how: str
    outcome: Outcome
    rules: tuple[str, ...]
    message: str
    seconds: float
    commit: str
    plans: int = 0
    """The plans of a campaign that were run."""


@dataclass(frozen=True)
class CleanPlans:
    """The plans of a campaign on healthy clusters. `alarms` are its violations, each with seed and headline."""

    target: str
    seed: int
    plans: int
    passed: int
    infrastructure: int
    inconclusive: int
    alarms: tuple[str, ...]
    commit: str
    date: str


@dataclass(frozen=True)
class CampaignTrial:
    """One attempt to catch a defect by campaigns alone, without scenarios."""

    defect: str
    design: str
    commit: str
    seed: int
    """It decided the draw, and the plans of each campaign."""
    sample: int
    """The number of defects on their designs that were to be tried, of `total`."""
    total: int
    minutes: float
    """The time after which no further plan was to begin."""
    outcome: Outcome
    plans: int
    """Plans that were judged."""
    seconds: float
    """The time of the campaigns, without the replays."""
    plan: str
    """The plan that is red, by its scenario; empty without one that counts."""
    without: str
    """The verdict of the newest red plan without the defect; empty without a red plan."""
    alarms: int
    """Plans that are red without the defect too. They do not count."""
    rules: tuple[str, ...]
    message: str
    load: float
    """The load average of the machine over 5 minutes at the end, for each core."""
    plans_per_cluster: int = 1
    workers: int = 1


def read_trials(path: Path = TRIALS) -> list[Trial]:
    return [
        Trial(
            **{
                **line,
                "stage": Stage(line["stage"]),
                "outcome": Outcome(line["outcome"]),
                "rules": tuple(line["rules"]),
            }
        )
        for line in _lines(path)
    ]


def read_clean_plans(path: Path = CLEAN_PLANS) -> list[CleanPlans]:
    return [CleanPlans(**{**line, "alarms": tuple(line["alarms"])}) for line in _lines(path)]


def read_campaigns(path: Path = CAMPAIGNS) -> list[CampaignTrial]:
    return [
        CampaignTrial(**{**line, "outcome": Outcome(line["outcome"]), "rules": tuple(line["rules"])})
        for line in _lines(path)
    ]


def append(path: Path, entry: Trial | CleanPlans | CampaignTrial) -> None:
    """Append an entry in one write, so that shards may share a record."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(entry)) + "\n")


def _lines(path: Path) -> Iterable[dict]:  # type: ignore[type-arg]
    if path.is_file():
        yield from (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
