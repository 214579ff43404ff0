"""Which defects are tried by campaigns alone, what counts as caught, and the share on the page."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants.catalogue import DEFECTS, UNKNOWN
from tests.mutants.defect import QUORUM, ZK
from tests.mutation.campaigns import CampaignsAlone, draw
from tests.mutation.campaigns_page import campaigns_alone
from tests.mutation.record import CampaignTrial, Outcome, append, read_campaigns

DEFECT = DEFECTS["follower_does_not_truncate"]
CANDIDATES = [(defect, design) for defect in DEFECTS.values() for design in defect.designs]

PROGRAM = """
import json, os, sys
from pathlib import Path
from fencepost.results.records.verdict import RunVerdict, Verdict
script, command, *arguments = sys.argv[1:]
runs = Path(arguments[arguments.index("--runs") + 1])
planted = os.environ["FENCEPOST_MUTANT"]
if command == "replay":
    scenario = RunVerdict.load(Path(arguments[0]) / "verdict.json").scenario
    assert not planted
    print(json.dumps({"runs": [{"verdict": json.loads(script)[scenario][1]}]}))
else:
    made = len(list(runs.glob("campaign-*")))
    scenario, (word, _) = list(json.loads(script).items())[made]
    folder = runs / f"campaign-{made}"
    folder.mkdir(parents=True)
    verdict = RunVerdict(Verdict(word), "lost", scenario, "quorum", "hash", 7.0, 1, 0, (), planted_defect=planted)
    verdict.save(folder / "verdict.json")
    (folder / "summary.json").write_text(json.dumps({"outcomes": [{"verdict": word, "run": str(folder)}]}))
"""
"""A program that leaves what `campaign` and `replay` leave. Its script has the plan of each campaign, with its verdict
with the defect and without."""


def attempt(tmp_path: Path, script: dict[str, tuple[str, str]]) -> CampaignTrial:
    program = (sys.executable, "-c", PROGRAM, json.dumps(script))
    return CampaignsAlone(tmp_path, "abc", 1, 1, 1, 15.0, program=program).attempt(DEFECT, QUORUM)


def test_a_draw_depends_on_its_seed_alone_and_a_smaller_one_is_the_begin_of_a_larger() -> None:
    sample = draw(CANDIDATES, 32, 60)
    assert len(set(sample)) == 60 and sample == draw(CANDIDATES[::-1], 32, 60)
    assert draw(CANDIDATES, 32, 10) == sample[:10] and draw(CANDIDATES, 33, 60) != sample
    assert sorted(draw(CANDIDATES, 32), key=str) == sorted(CANDIDATES, key=str)


@pytest.mark.parametrize(
    ("without", "outcome"),
    [("pass", Outcome.CAUGHT), ("inconclusive", Outcome.CAUGHT), ("infrastructure", Outcome.UNJUDGED)],
)
def test_a_red_plan_counts_only_if_a_healthy_cluster_was_judged(tmp_path: Path, without: str, outcome: Outcome) -> None:
    trial = attempt(tmp_path, {"random-1": ("violation", without)})
    assert (trial.outcome, trial.plan, trial.without, trial.plans) == (outcome, "random-1", without, 1)


def test_after_an_alarm_the_trial_goes_on_with_other_plans(tmp_path: Path) -> None:
    alarm, caught = ("violation", "violation"), ("violation", "pass")
    trial = attempt(tmp_path, {"random-1": alarm, "random-2": caught})
    assert (trial.outcome, trial.plan, trial.alarms, trial.plans) == (Outcome.CAUGHT, "random-2", 1, 2)


@pytest.mark.parametrize(("verdict", "outcome"), [("pass", Outcome.MISSED), ("inconclusive", Outcome.UNJUDGED)])
def test_without_a_red_plan_a_defect_is_missed_if_any_plan_was_judged(
    tmp_path: Path, verdict: str, outcome: Outcome
) -> None:
    assert attempt(tmp_path, {"random-1": (verdict, "")}).outcome is outcome


CAUGHT = CampaignTrial(
    *(DEFECT.name, QUORUM, "abc", 32, 60, 204, 15.0, Outcome.CAUGHT, 4, 90.0, "random-7", "pass", 0),
    *(("HW-04",), "lost", 2.5),
)


def test_the_page_has_the_share_of_each_design_with_its_interval(tmp_path: Path) -> None:
    missed = replace(CAUGHT, outcome=Outcome.MISSED, plans=30, seconds=900.0, alarms=1, load=0.5)
    record = tmp_path / "campaigns.jsonl"
    unjudged = replace(missed, outcome=Outcome.UNJUDGED)
    trials = [CAUGHT, missed, replace(missed, design=ZK), unjudged]
    for name, trial in zip([DEFECT.name, *list(DEFECTS)[:3]], trials, strict=True):
        append(record, replace(unjudged, defect=name, design=trial.design, alarms=9))
        append(record, replace(trial, defect=name))  # the newest counts
    text = "\n".join(campaigns_alone(read_campaigns(record)))
    assert "4 of 60 were tried, from a sample of 60 of 204" in text and "a load of 0.5 to 2.5" in text
    assert "| quorum | 2 | 1 | 1 | 50% (9% to 91%) | 4 | 1.5 | 1 | 2 |" in text
    assert "| zk-controller | 1 | 0 | 0 | 0% (0% to 79%) |  |  | 0 | 1 |" in text
    assert "| all | 3 | 1 | 1 | 33% (6% to 79%) | 4 | 1.5 | 1 | 3 |" in text
    assert "| quorum | `random-7`: HW-04; without the defect pass | 4 | 1.5 |" in text


def test_unknown_defects_have_a_share_of_each_kind_beside_the_others() -> None:
    unknown = next(iter(UNKNOWN.values()))
    assert unknown.kind is not None
    text = "\n".join(campaigns_alone([CAUGHT, replace(CAUGHT, defect=unknown.name, outcome=Outcome.MISSED)]))
    assert text.count("### Commit abc, seed 32") == 2
    assert f"| {unknown.kind.value} | 1 | 0 | 0 | 0% (0% to 79%) |  |  | 0 | 0 |" in text
    assert text.count("| kind |") == 1
