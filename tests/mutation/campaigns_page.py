"""The section of the page about campaigns alone, made from the record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from fencepost.harness.reproduction.replaying import wilson
from tests.mutants.catalogue import DEFECTS, UNKNOWN
from tests.mutation.markdown import table
from tests.mutation.record import CampaignTrial, Outcome

INTRODUCTION = """Each defect is tried by random plans alone, without scenarios, until the first violation
(`make mutation ARGS=campaign`; the record is `tests/mutation/campaigns.jsonl`). The plan that is red runs once more
without the defect, and counts only if it is no violation there. Plans that are red there too are alarms: the trial goes
on after them. A trial whose plans were all inconclusive, or failed with the machine, is unjudged and in no share. The
seed alone decides the order of trials and the plans of each, so those that were tried are a sample by chance too. What
was caught by its rules broke a rule that the defect is known to break; the rest may be chance on a busy machine, most
of all where the healthy cluster was inconclusive. Plans and minutes of a share are medians over what was caught."""

SHARE = ("judged", "caught", "by its rules", "share (95 % interval)")
COLUMNS = (*SHARE, "plans until caught", "minutes", "unjudged", "alarms")


class Series(NamedTuple):
    """The settings that trials share."""

    commit: str
    seed: int
    sample: int
    total: int
    minutes: float
    plans_per_cluster: int
    workers: int
    unknown: bool

    @classmethod
    def of(cls, trial: CampaignTrial) -> Series:
        return cls(
            trial.commit,
            trial.seed,
            trial.sample,
            trial.total,
            trial.minutes,
            trial.plans_per_cluster,
            trial.workers,
            trial.defect in UNKNOWN,
        )

    @property
    def text(self) -> str:
        which = f"a sample of {self.sample} of" if self.sample < self.total else "all"
        named = "defects that no scenario was written for," if self.unknown else "defects"
        lives = f", with {self.plans_per_cluster} plans on a cluster" if self.plans_per_cluster > 1 else ""
        lives += f", {self.workers} clusters side by side" if self.workers > 1 else ""
        return f"from {which} {self.total} {named} on their designs, for {self.minutes:g} minutes each{lives}"


def campaigns_alone(trials: Sequence[CampaignTrial]) -> Iterator[str]:
    yield INTRODUCTION
    series: dict[Series, dict[tuple[str, str], CampaignTrial]] = defaultdict(dict)
    for trial in trials:
        series[Series.of(trial)][trial.defect, trial.design] = trial  # the newest counts
    for settings, newest in series.items():
        tried = list(newest.values())
        loads = [trial.load for trial in tried]
        yield f"\n### Commit {settings.commit}, seed {settings.seed}\n"
        yield (
            f"{len(tried)} of {settings.sample} were tried, {settings.text}, on a machine with a load of "
            f"{min(loads):g} to {max(loads):g} for each core.\n"
        )
        yield from _shares("design", lambda trial: trial.design, tried)
        if settings.unknown:
            yield ""
            yield from _shares("kind", _kind, tried)
        yield ""
        yield from table(("defect", "design", "caught", "plans", "minutes"), map(_row, tried))


def _shares(by: str, group: Callable[[CampaignTrial], str], tried: Sequence[CampaignTrial]) -> Iterator[str]:
    groups = {name: [trial for trial in tried if group(trial) == name] for name in sorted(set(map(group, tried)))}
    yield from table((by, *COLUMNS), ([name, *_share(trials)] for name, trials in {**groups, "all": tried}.items()))


def _kind(trial: CampaignTrial) -> str:
    kind = UNKNOWN[trial.defect].kind
    return kind.value if kind is not None else ""


def _share(tried: Sequence[CampaignTrial]) -> Iterator[str]:
    caught = [trial for trial in tried if trial.outcome is Outcome.CAUGHT]
    judged = [trial for trial in tried if trial.outcome is not Outcome.UNJUDGED]
    low, high = wilson(len(caught), len(judged))
    yield str(len(judged))
    yield str(len(caught))
    yield str(sum(map(_by_its_rules, caught)))
    yield f"{len(caught) / len(judged):.0%} ({low:.0%} to {high:.0%})" if judged else ""
    yield f"{median(trial.plans for trial in caught):g}" if caught else ""
    yield f"{median(trial.seconds for trial in caught) / 60:.1f}" if caught else ""
    yield str(len(tried) - len(judged))
    yield str(sum(trial.alarms for trial in tried))


def _by_its_rules(trial: CampaignTrial) -> bool:
    defect = DEFECTS.get(trial.defect) or UNKNOWN.get(trial.defect)
    return defect is not None and bool(set(trial.rules) & set(defect.rules))


def _row(trial: CampaignTrial) -> Sequence[str]:
    defect = f"[{trial.defect}](../tests/mutants/{trial.defect.replace('.', '/')}.py)"
    return defect, trial.design, _caught(trial), str(trial.plans), f"{trial.seconds / 60:.1f}"


def _caught(trial: CampaignTrial) -> str:
    if trial.outcome is Outcome.CAUGHT:
        return f"`{trial.plan}`: {', '.join(trial.rules)}; without the defect {trial.without}"
    said = "no" if trial.outcome is Outcome.MISSED else "unjudged"
    return f"{said}; alarms: {trial.alarms}" if trial.alarms else said
