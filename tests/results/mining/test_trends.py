"""The command `trends` over a store with known truth, and over run folders."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fencepost.results.mining.synthesize import Truth, make_truth, name, synthesize
from fencepost.results.mining.trends import hints
from fencepost.results.records.journal import JournalWriter
from fencepost.results.records.survey import TRENDS_FILE, FolderState, survey
from fencepost.results.store.store import Store
from fencepost.results.store.tables import PLANS, RUNS
from tests.harness.cli.conftest import Fencepost, fencepost
from tests.harness.publishing.conftest import CopyRun, copy_run, saved
from tests.results.store.stores import head, run

__all__ = ["copy_run", "fencepost", "saved"]


def mine(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, because the JVM writes its errors past Python's."""
    command = [sys.executable, "-m", "fencepost.harness.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Mined:
    store: Path
    out: Path
    truth: Truth
    said: dict[str, Any]
    errors: str

    def tests(self, kind: str) -> set[str]:
        """The names of the tests of a kind of the truth."""
        return {name(number) for number, each in enumerate(self.truth.kinds) if each == kind}


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    root = tmp_path_factory.mktemp("mined")
    truth = make_truth(60, 8, 20, seed=3)
    store = Store.create(str(root / "store"))
    synthesize(store, truth, seed=3)
    done = mine("trends", store.name, "--json", "--top", "60", "--out", str(root / "out"))
    assert done.returncode == 0, done.stderr
    return Mined(root / "store", root / "out", truth, json.loads(done.stdout), done.stderr)


@pytest.mark.integration
def test_spark_says_nothing_unless_it_fails(mined: Mined) -> None:
    assert mined.errors == ""


@pytest.mark.integration
def test_each_test_that_broke_at_a_build_is_named_with_that_build(mined: Mined) -> None:
    page = {row["test"]: row for row in json.loads((mined.out / TRENDS_FILE).read_text())["known"]}
    found = {**page, **{row["test"]: row for kind in ("new", "known") for row in mined.said[kind]}}
    broken = mined.tests("broken")
    assert broken
    for test in broken & set(found):
        truth = mined.truth.changes[int(test[-5:])]
        assert found[test]["state"] == "broken"
        assert found[test]["since"]["build"] == f"build-{truth:03}"


@pytest.mark.integration
def test_the_planted_causes_are_the_independent_ones(mined: Mined) -> None:
    named = {frozenset(row["causes"]) for row in mined.said["causes"] if row["independent"]}
    assert frozenset({"fault:duplicate"}) in named


@pytest.mark.integration
def test_there_is_a_page_for_each_test(mined: Mined) -> None:
    assert len(list((mined.out / "tests").glob("*.html"))) == 60
    assert {path.name for path in mined.out.glob("*.html")} == {
        *("index.html", "tests.html", "rules.html", "timings.html")
    }


@pytest.mark.integration
def test_a_folder_of_runs_is_mined_without_a_store(tmp_path: Path, copy_run: CopyRun) -> None:
    yesterday = time.time() - 86_400
    for number in range(3):
        copy_run(tmp_path / "runs" / f"run-{number}", started=yesterday + number)
    (tmp_path / "runs" / "half" / "nodes").mkdir(parents=True)
    with JournalWriter(tmp_path / "runs" / "half" / "journal.jsonl"):
        pass
    done = mine("trends", str(tmp_path / "runs"), "--markdown", "--out", str(tmp_path / "runs" / "out"))
    assert done.returncode == 0, done.stderr
    assert "3 runs of 1 tests on zk-controller" in done.stdout
    assert f"fencepost replay {tmp_path / 'runs' / 'run-2'}" in done.stdout
    assert "half: killed half way" in done.stderr
    again = survey(tmp_path / "runs")
    assert "out" not in [each for state in FolderState for each in again.names(state)]


@pytest.mark.integration
def test_a_branch_is_compared_with_its_base_and_a_damaged_file_ends_with_65(tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    runs = [run(f"base-{n}", n + 1, branch="main", build=f"b{n}") for n in range(40)]
    store.add({RUNS.name: [*runs, run("head", branch="pr", build="b-pr", verdict="violation", headline="broke")]})
    done = mine("trends", store.name, "--base", "main", "--head", "pr")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the failure is new: p = 0.9")
    assert "none of 40 runs failed" in done.stdout and "reruns: if all fail it is broken (95 %)" in done.stdout
    file = Path(min(store.files(RUNS)))
    file.write_bytes(b"")
    done = mine("trends", store.name)
    assert (done.returncode, f"{file.name} has 0 bytes" in done.stderr) == (65, True)


def test_without_a_store_and_without_runs_the_message_says_how_to_make_one(
    fencepost: Fencepost, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    done = fencepost("trends", str(tmp_path / "empty"))
    assert done.code == 64
    assert "has neither a store nor a judged run: `fencepost publish` makes one" in done.err
    done = fencepost("trends", str(tmp_path / "nothing"))
    assert done.code == 64
    assert "there is no such folder; `fencepost publish RUNS --to STORE` makes one" in done.err


def test_the_commands_that_show_more_are_commands_with_these_options(fencepost: Fencepost) -> None:
    for line in hints("store")[1:]:
        command = line.partition(": fencepost ")[2].split()
        shown = fencepost(command[0], "--help").out
        assert all(word in shown for word in command if word.startswith("--")), line


def test_wrong_options_are_refused_before_spark_starts(fencepost: Fencepost, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store")).name
    assert fencepost("trends", store, "--json", "--markdown").code == 64
    assert "name the branch with --head" in fencepost("trends", store, "--base", "main").err
    assert "leave --out away" in fencepost("trends", store, "--head", "pr", "--out", str(tmp_path / "out")).err
    (tmp_path / "notes.txt").touch()
    done = fencepost("trends", store, "--out", str(tmp_path))
    assert (done.code, "has other files" in done.err) == (64, True)
    done = fencepost("trends", store, "--since", "yesterday")
    assert (done.code, "'yesterday' is no age" in done.err) == (64, True)


def test_the_plan_of_the_newest_failure_is_saved_for_a_replay(fencepost: Fencepost, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    runs = [run("old", 3, verdict="violation"), run("new", 1, verdict="violation"), run("stuck", 0, verdict="pass")]
    plans = [
        head(each, days, verdict=verdict) | {"row": 0, "plan_hash": "h", "steps": 1, "plan": f"the plan of {each}"}
        for each, days, verdict in (("old", 3, "violation"), ("new", 1, "violation"), ("stuck", 0, "inconclusive"))
    ]
    store.add({RUNS.name: runs, PLANS.name: plans})
    file = tmp_path / "plan.yaml"
    assert fencepost("show", "t", "--store", store.name, "--save-plan", str(file)).code == 0
    assert file.read_text() == "the plan of new"
    done = fencepost("show", "tt", "--store", store.name, "--save-plan", str(file))
    assert (done.code, "has no test tt; it has t" in done.err) == (64, True)
