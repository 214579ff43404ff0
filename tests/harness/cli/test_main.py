"""The command as a user meets it."""

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from harness.cli import completion
from suites.stories import STORIES
from tests.harness.cli.conftest import Fencepost

COMMANDS = (
    *("conformance", "stories", "plan", "run", "replay", "report", "recheck", "trends"),
    *("up", "inject", "faults", "heal", "status", "clean", "doctor"),
)


def test_help_names_every_command_and_the_exit_codes(fencepost: Fencepost) -> None:
    said = fencepost("--help").out
    assert [command for command in COMMANDS if f" {command} " not in said] == []
    assert "0 pass" in said
    assert "3 inconclusive" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_s_help_has_an_example(fencepost: Fencepost, command: str) -> None:
    said = fencepost(command, "--help").out
    assert re.search(rf"Examples?\s+fencepost {command}", said), said


@pytest.mark.parametrize("command", COMMANDS)
def test_the_stories_of_examples_exist(fencepost: Fencepost, command: str) -> None:
    named = re.findall(r"fencepost (?:run|plan) ([a-z0-9-]+)(?=\s)", fencepost(command, "--help").out)
    assert {name for name in named if not name.startswith("-")} <= {story.slug for story in STORIES}


def test_help_loads_nothing_that_is_slow() -> None:
    script = (
        "import sys; import harness.cli.main as m\n"
        "print([name for name in ('confluent_kafka', 'kio', 'pydantic', 'pyspark', 'pytest') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "no-such-story"), "fencepost: there is no story 'no-such-story'"),
        (("run", "no-such.yaml"), "fencepost: there is no plan file no-such.yaml"),
        (("plan", "duplicate-empt"), "did you mean"),
        (("conformance", "--target", "kafka"), "there is no target 'kafka': the targets are"),
        (("conformance", "kafka"), "there is no target 'kafka': the targets are"),
        (("stories", "quorum", "--target", "apache-kafka"), "two targets are named"),
        (("conformance", "--backend", "podman"), "there is no backend 'podman': the backends are"),
        (("replay", "/no/such/run"), "there is no run folder /no/such/run"),
        (("status",), "no cluster is up"),
        (("clean", "/"), "/ has no processes.jsonl"),
        (("clean", "--images", "/"), "--images is not about runs"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    fencepost: Fencepost, arguments: tuple[str, ...], sentence: str
) -> None:
    done = fencepost(*arguments)
    assert sentence in done.err
    assert (done.code, done.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("error", "shown"), [(RuntimeError("a defect"), True), (OSError(errno.ENOSPC, "No space left on device"), False)]
)
def test_what_nobody_foresaw_is_no_violation(
    fencepost: Fencepost, monkeypatch: pytest.MonkeyPatch, error: Exception, shown: bool
) -> None:
    def broken() -> NoReturn:
        raise error

    monkeypatch.setattr("harness.cleaning.cleanup.left_behind", broken)
    done = fencepost("clean")
    assert done.code == 2
    assert ("Traceback" in done.err) == shown
    assert done.err.endswith(f"fencepost: {error}\n")


def test_a_plan_with_a_wrong_key_is_refused_at_its_line(fencepost: Fencepost, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("format: fencepost-plan/1\nstorry: x\n")
    done = fencepost("run", str(tmp_path / "mine.yaml"))
    assert "mine.yaml:2" in done.err
    assert done.code == 2


def test_a_story_s_plan_can_be_printed_and_listed(fencepost: Fencepost) -> None:
    listed = fencepost("stories").out
    assert "refused-duplicate" in listed
    printed = fencepost("plan", "refused-duplicate", "--seed", "7").out
    assert printed.startswith("format: fencepost-plan/1\nstory: refused-duplicate\n")
    assert "\nseed: 7\n" in printed


def test_clean_says_when_there_is_nothing_to_clean(fencepost: Fencepost) -> None:
    assert fencepost("clean").out == "nothing was left behind\n"


def test_clean_speaks_to_programs(fencepost: Fencepost) -> None:
    assert json.loads(fencepost("clean", "--json").out) == []


def test_faults_are_listed_with_what_is_missing_here(fencepost: Fencepost) -> None:
    listed = {each["fault"]: each for each in json.loads(fencepost("faults", "--json").out)}
    assert "slow" in listed
    assert listed["disconnect"]["lacking"], "the process backend has no containers"
    assert "slow" in fencepost("faults").out


def test_the_help_of_a_fault_is_about_that_fault(fencepost: Fencepost) -> None:
    said = fencepost("inject", "slow", "--help").out
    assert "fencepost inject slow --from NODE --to NODE" in said
    assert "--latency-ms" in said
    assert "Does not model jitter" in said


def test_the_words_of_a_fault_are_checked_before_a_cluster_is_looked_for(fencepost: Fencepost) -> None:
    assert "--to is missing" in fencepost("inject", "cut", "--from", "node-4").err
    assert "no cluster is up" in fencepost("inject", "cut", "--from", "node-4", "--to", "node-5").err


@pytest.mark.parametrize(
    ("complete", "incomplete", "found"),
    [
        (completion.targets, "apache", ["apache-kafka", "apache-kafka-zk"]),
        (completion.faults, "sl", ["slow"]),
        (completion.stories, "refused-d", ["refused-duplicate"]),
        (completion.backends, "d", ["docker"]),
        (completion.runs, "runs/2026-11-21-7", ["runs/2026-11-21-7f3c9a21"]),
        (completion.runs, "", ["runs/2026-11-21-7f3c9a21"]),
    ],
)
def test_the_shell_completes_names(
    complete: Callable[[str], list[str]],
    incomplete: str,
    found: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "runs" / "2026-11-21-7f3c9a21").mkdir(parents=True)
    (tmp_path / "runs" / "2026-11-21-7f3c9a21" / "plan.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert complete(incomplete) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown_for_each_shell(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli"],
        env={**os.environ, "_FENCEPOST_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
    )
    assert f"_FENCEPOST_COMPLETE=complete_{shell}" in done.stdout
