"""The failures of a branch beside its base, from runs to the words that are printed."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.blame import Blame
from fencepost.results.mining.branches import Comparison, NoRuns, compare
from fencepost.results.mining.branches_in_words import as_json, markdown, text, verdict
from fencepost.results.store.tables import RUNS
from tests.results.mining.frames import START, attempts, frame, verdicts

pytestmark = pytest.mark.integration


def base(test: str, text: str, first_day: float = 0) -> list[dict[str, Any]]:
    """Return a run of each letter, each on a build of `main` of its own."""
    return [
        row
        | {
            "test": test,
            "branch": "main",
            "build": f"main-{n}",
            "started_at": START + timedelta(days=first_day, hours=n),
        }
        for n, row in enumerate(verdicts(text, source="junit", signature="s", plan_hash=None))
    ]


def head(test: str, text: str, build: str = "pr-2", **columns: Any) -> list[dict[str, Any]]:
    of_head = {"test": test, "branch": "pr", "build": build, "source": "junit", "plan_hash": None}
    day = START + timedelta(days=30 if build == "pr-2" else 20)
    return [
        row | {"started_at": day + timedelta(minutes=n)}
        for n, row in enumerate(attempts(text, **of_head, signature="s", headline="it | broke", **columns))
    ]


RUNS_OF_BOTH = [
    *(row for test in ("new", "passes", "retried", "gone") for row in base(test, "p" * 100)),
    *base("LogTest::it grows", "pvpp" * 20),
    *base("broken", "p" * 30 + "v" * 10),
    *head("new", "vvv"),
    *head("passes", "p"),
    *head("retried", "vp"),
    *head("LogTest::it grows", "v", title="it grows", runner="Surefire"),
    *head("broken", "v"),
    *head("gone", "v", build="pr-1"),
    *head("only-here", "v"),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> Comparison:
    return compare(frame(spark, RUNS, RUNS_OF_BOTH), "main", "pr")


def test_only_runs_that_failed_on_the_newest_build_of_the_branch_are_failures(found: Comparison) -> None:
    blames = {each.of_head["test"]: each.blame for each in found.failures}
    assert blames == {
        "new": Blame.NEW,
        "LogTest::it grows": Blame.FLAKE,
        "broken": Blame.BROKEN,
        "only-here": Blame.UNSURE,
    }
    assert (found.build, found.head_runs, found.base_runs) == ("pr-2", 6, 520)


def test_the_base_says_how_often_and_since_which_build(found: Comparison) -> None:
    of = {each.of_head["test"]: each for each in found.failures}
    assert (of["LogTest::it grows"].base_runs, of["LogTest::it grows"].base_failures, of["LogTest::it grows"].same) == (
        80,
        20,
        20,
    )
    assert (of["broken"].base_failures, of["broken"].since) == (10, "main-30")
    assert (of["new"].base_failures, of["new"].since, of["only-here"].base_runs) == (0, None, 0)


def test_one_line_is_the_verdict(found: Comparison) -> None:
    assert verdict(found) == (
        "1 of 4 failures is a known flake; 1 of 4 is broken on main as well; "
        "this one is new: new on quorum, p > 0.99; 1 is not known yet: rerun"
    )


def test_all_forms_say_the_same(found: Comparison) -> None:
    for said in (text(found, "store", 10), markdown(found, "store", 10)):
        assert verdict(found).partition(";")[0] in said
        assert "20 of 80 runs failed" in said and "since main-30" in said and "it did not run there" in said
        assert "if all fail it is broken (95 %), if one passes it is flaky" in said
    assert "it \\| broke" in markdown(found, "store", 10)
    failures = json.loads(json.dumps(as_json(found, "store")))["failures"]
    assert [each["blame"] for each in failures] == ["new", "unsure", "broken", "flake"]


def test_the_command_for_reruns_is_that_of_the_runner(found: Comparison) -> None:
    commands = {each["test"]: each["rerun"] for each in as_json(found, "store")["failures"]}
    needed = {each.of_head["test"]: each.reruns for each in found.failures}
    assert (
        commands["LogTest::it grows"]
        == f"for i in $(seq {needed['LogTest::it grows']}); do mvn test -Dtest='LogTest#it grows'; done"
    )
    assert commands["broken"] is None and commands["only-here"] is None


def test_a_branch_without_runs_is_named_with_those_that_there_are(spark: SparkSession) -> None:
    with pytest.raises(NoRuns, match="no run is of pr-9; branches: main, pr"):
        compare(frame(spark, RUNS, RUNS_OF_BOTH), "main", "pr-9")
