"""The record of the mutation run, and what it says is left to try."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from fencepost.results.records.verdict import RunVerdict, Verdict
from tests.mutants.catalogue import DEFECTS
from tests.mutants.defect import QUORUM, ZK
from tests.mutation import page, trials
from tests.mutation.__main__ import next_ones, next_row
from tests.mutation.clean_plans import read_campaign
from tests.mutation.record import CleanPlans, Outcome, Stage, Trial, append, read_clean_plans, read_trials
from tests.mutation.standing import Standing, standings
from tests.mutation.suite_run import ended_runs
from tests.mutation.survivors import UNSEEN_BECAUSE
from tests.mutation.trials import ROOT, asking

DEFECT = DEFECTS["follower_does_not_truncate"]


def trial(stage: Stage, how: str, outcome: Outcome, design: str = QUORUM, rules: tuple[str, ...] = ()) -> Trial:
    return Trial(DEFECT.name, design, stage, how, outcome, rules, "", 1.0, "abc")


def test_the_likely_scenarios_come_first_and_no_scenario_is_left_out() -> None:
    asked, rest = asking(DEFECT, QUORUM)
    assert asked[0] == "isolated-leader"
    assert "active-controller-killed" in rest and not set(asked) & set(rest)


def test_a_trial_that_says_nothing_is_repeated_twice() -> None:
    row = Standing(DEFECT, QUORUM)
    first = row.left(Stage.ASKED)[0]
    row.trials += [trial(Stage.ASKED, first, Outcome.UNJUDGED)] * 2
    assert first in row.left(Stage.ASKED)
    row.trials.append(trial(Stage.ASKED, first, Outcome.UNJUDGED))
    assert first not in row.left(Stage.ASKED)


def test_a_defect_that_a_scenario_caught_is_tried_no_more_from_outside() -> None:
    row = Standing(DEFECT, QUORUM)
    row.trials.append(trial(Stage.UNIT, "t.py::test", Outcome.CAUGHT))
    assert row.left(Stage.CAMPAIGN) == ["campaign"]
    row.trials.append(trial(Stage.ASKED, "isolated-leader", Outcome.CAUGHT, rules=("HW-04",)))
    assert [row.left(stage) for stage in Stage] == [[], [], [], []]


def test_a_unit_test_counts_for_every_design_and_a_scenario_for_its_own(tmp_path: Path) -> None:
    record = tmp_path / "trials.jsonl"
    append(record, trial(Stage.UNIT, "tests/t.py::test_it", Outcome.CAUGHT, ZK))
    append(record, trial(Stage.ASKED, "two-leaders", Outcome.CAUGHT, ZK, ("HW-03",)))
    rows = {row.design: row for row in standings(read_trials(record)) if row.defect == DEFECT}
    assert rows[QUORUM].caught(Stage.UNIT) is not None and rows[QUORUM].caught_from_outside is None
    assert rows[ZK].caught_from_outside is not None


def test_the_page_says_what_was_not_run_and_counts_the_clean_plans(tmp_path: Path) -> None:
    clean = tmp_path / "clean.jsonl"
    append(clean, CleanPlans(QUORUM, 1, 20, 18, 0, 1, ("seed 7: lost",), "abc", "2026-11-23"))
    rows = [Standing(DEFECT, QUORUM), Standing(DEFECT, ZK)]
    rows[1].trials.append(trial(Stage.ASKED, "two-leaders", Outcome.CAUGHT, ZK, ("HW-03", "HW-04")))
    page.write(rows, read_clean_plans(clean), [], tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text("utf-8")
    assert "| quorum | not run yet | not run yet | not run yet |" in text
    assert "| zk-controller | not run yet | `two-leaders`: HW-03, HW-04 |  |" in text
    assert "20 of 1000 plans" in text and "seed 7: lost" in text


def test_the_plans_of_a_campaign_that_was_run_are_counted(tmp_path: Path) -> None:
    outcomes: list[dict[str, object]] = [
        {"verdict": "pass", "seed": 5, "headline": "all held", "run": None},
        {"verdict": "violation", "seed": 6, "headline": "lost", "run": None},
    ]
    summary = tmp_path / "summary.json"
    summary.write_text(json.dumps({"target": "quorum:1", "seed": 5, "outcomes": outcomes}))
    counted = read_campaign(summary)
    assert (counted.target, counted.plans, counted.passed, counted.alarms) == (QUORUM, 2, 1, ("seed 6: lost",))
    summary.write_text(
        json.dumps({"target": "quorum:1", "seed": 5, "outcomes": [{**outcomes[0], "planted_defect": "no_self_fence"}]})
    )
    with pytest.raises(ValueError, match="planted defect"):
        read_campaign(summary)


def test_no_defect_is_tried_a_second_time_before_all_were_tried_once() -> None:
    rows = [Standing(DEFECT, QUORUM), Standing(DEFECT, ZK)]
    order = []
    while (row := next_row(rows, Stage.ASKED, first=2)) is not None:
        slug = row.left(Stage.ASKED)[0]
        order.append((row.design, slug))
        row.trials.append(trial(Stage.ASKED, slug, Outcome.MISSED, row.design))
    designs = [design for design, _ in order]
    assert sorted(designs[:2]) == [QUORUM, ZK] and len(designs) > 2


VERDICTS = """
import sys, time
from pathlib import Path
runs, *said = sys.argv[1:]
if "--runs" in said:
    runs, said = said[said.index("--runs") + 1], said[: said.index("conformance")]
from fencepost.results.records.verdict import RunVerdict, Verdict
for number, (scenario, word) in enumerate(each.split("=") for each in said):
    folder = Path(runs) / str(number)
    folder.mkdir(parents=True)
    RunVerdict(Verdict(word), "said", scenario, "quorum", "hash", 7.0, 1, 0, ()).save(folder / "verdict.json")
while "wait" in said[-1]:
    time.sleep(0.1)
"""
"""A program that leaves the verdicts of its arguments, as the suite does, and goes on if the last is of `wait`."""


def ended(tmp_path: Path, *runs: str) -> list[tuple[str, str]]:
    command = [sys.executable, "-c", VERDICTS, str(tmp_path), *runs]
    found = ended_runs(command, tmp_path, ROOT, dict(os.environ), within=60.0)
    return [(each.scenario, each.verdict.value) for each in found]


def test_a_run_of_the_suite_ends_at_the_first_violation(tmp_path: Path) -> None:
    said = [("a", "pass"), ("b", "inconclusive"), ("wait", "violation")]
    assert sorted(ended(tmp_path, *(f"{scenario}={word}" for scenario, word in said))) == said


def test_a_run_of_the_suite_without_a_violation_tells_of_all_that_ended(tmp_path: Path) -> None:
    (tmp_path / "earlier").mkdir()
    RunVerdict(Verdict.VIOLATION, "old", "c", QUORUM, "hash", 7.0, 1, 0, ()).save(tmp_path / "earlier" / "verdict.json")
    assert sorted(ended(tmp_path, "a=pass", "b=pass")) == [("a", "pass"), ("b", "pass")]


def test_all_of_the_rest_is_one_run_and_what_asks_a_rule_is_tried_one_by_one() -> None:
    row = Standing(DEFECT, QUORUM)
    asked, rest = asking(DEFECT, QUORUM)
    assert next_ones(row, Stage.ASKED, first=100) == asked[:1]
    assert next_ones(row, Stage.REST, first=len(rest)) == rest
    row.trials += [trial(Stage.REST, rest[0], Outcome.MISSED)]
    assert next_ones(row, Stage.REST, first=3) == rest[1:3]


def test_scenarios_of_one_run_are_trials_of_their_own(tmp_path: Path) -> None:
    bench = trials.Bench(tmp_path, "abc", program=(sys.executable, "-c", VERDICTS, "", "links-reset=pass"))
    made = list(bench.suite(DEFECT, QUORUM, Stage.REST, ["links-reset", "links-ring"]))
    said = [(each.how, each.outcome, each.seconds == 7.0) for each in made]
    assert said == [("links-reset", Outcome.MISSED, True), ("links-ring", Outcome.UNJUDGED, False)]


def test_a_reason_is_of_a_defect_that_exists() -> None:
    assert [name for name in UNSEEN_BECAUSE if name not in DEFECTS] == []
