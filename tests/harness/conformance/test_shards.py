"""Shards of a suite: every scenario is in exactly one, each has about the same to do, and every machine agrees."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.conformance.shards import Shard, chosen, expected_seconds, recorded_seconds
from fencepost.harness.errors import UsageError
from fencepost.harness.report.suite_results import ScenarioResult, SuiteResult
from fencepost.results.records.verdict import Verdict
from fencepost.suites.scenarios import SCENARIOS

DECLARED = {scenario.slug: float(scenario.seconds) for scenario in SCENARIOS}


def _suite(started: float, target: str = "quorum", **seconds: float | None) -> SuiteResult:
    results = tuple(
        ScenarioResult(name, name, (), None, "no pause")
        if taken is None
        else ScenarioResult(name, name, (), Verdict.PASS, None, taken)
        for name, taken in seconds.items()
    )
    return SuiteResult(target, "1", "process", 1, started, 1.0, results)


@given(st.dictionaries(st.text(min_size=1), st.floats(0, 1e4), max_size=40), st.integers(1, 12))
def test_each_scenario_is_in_exactly_one_shard(seconds: dict[str, float], total: int) -> None:
    parts = [Shard(number, total).select(seconds) for number in range(1, total + 1)]
    assert sorted(each for part in parts for each in part) == sorted(seconds)


@pytest.mark.parametrize("total", [2, 3, 4, 8])
def test_the_shards_of_the_suites_have_about_the_same_to_do(total: int) -> None:
    loads = [sum(DECLARED[each] for each in Shard(number, total).select(DECLARED)) for number in range(1, total + 1)]
    assert max(loads) - min(loads) <= max(DECLARED.values())
    assert max(loads) <= 1.1 * sum(DECLARED.values()) / total


def test_machines_that_collect_in_another_order_agree() -> None:
    shuffled = list(DECLARED.items())
    random.Random(7).shuffle(shuffled)
    assert Shard(2, 5).select(dict(shuffled)) == Shard(2, 5).select(DECLARED)


@pytest.mark.parametrize("text", ["", "2", "0/4", "5/4", "1/0", "-1/4", "a/b", "1/4/2"])
def test_a_part_that_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not I/N with I from 1 to N: for example 2/4"):
        Shard.parse(text)


def test_a_scenario_without_a_record_runs_at_the_pace_of_the_others() -> None:
    assert expected_seconds({"a": 2, "b": 4, "c": 5}, {"a": 6, "b": 12}) == {"a": 6, "b": 12, "c": 15}
    assert expected_seconds({"a": 2, "b": 4}, {"a": 0.0}) == {"a": 0.0, "b": 4}, "a was skipped"


def test_the_newest_record_of_each_scenario_counts(tmp_path: Path) -> None:
    _suite(300.0, a=5.0, b=None).save(tmp_path / "suite-2" / "results.json")
    _suite(100.0, a=9.0, b=7.0, c=1.0).save(tmp_path / "results.json")
    _suite(400.0, "apache-kafka", a=99.0).save(tmp_path / "suite-3" / "results.json")
    (tmp_path / "suite-3" / "other.json").write_text("{")
    assert recorded_seconds(tmp_path, "quorum") == {"a": 5.0, "b": 0.0, "c": 1.0}
    assert recorded_seconds(tmp_path / "results.json", "quorum") == {"a": 9.0, "b": 7.0, "c": 1.0}


def test_records_of_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file or folder"):
        recorded_seconds(tmp_path / "gone", "quorum")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(UsageError, match="has no results of a suite on quorum"):
        recorded_seconds(tmp_path / "other.json", "quorum")


def test_a_folder_without_records_leaves_the_declared_durations(tmp_path: Path) -> None:
    assert recorded_seconds(tmp_path, "quorum") == {}
    assert chosen("1/2", {"a": 9.0, "b": 1.0}, tmp_path, "quorum") == {"a"}


def test_records_decide_the_division(tmp_path: Path) -> None:
    _suite(1.0, a=1.0, b=1.0, c=2.0).save(tmp_path / "results.json")
    declared = {"a": 9.0, "b": 1.0, "c": 1.0}
    assert chosen("1/2", declared, None, "quorum") == {"a"}
    assert chosen("1/2", declared, tmp_path, "quorum") == {"c"}
