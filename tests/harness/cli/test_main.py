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

from fencepost.harness.cli import completion
from fencepost.harness.cli.main import app
from fencepost.suites.scenarios import SCENARIOS
from tests.harness.cli.conftest import Fencepost

COMMANDS = (
    *("conformance", "scenarios", "plan", "run", "replay", "report", "recheck", "trends"),
    *("up", "inject", "faults", "heal", "status", "clean", "doctor"),
    *("publish", "show", "results compact", "results expire", "results check", "results import"),
)


def test_help_names_every_command_and_the_exit_codes(fencepost: Fencepost) -> None:
    said = fencepost("--help").out
    assert [command for command in COMMANDS if f" {command.split()[0]} " not in said] == []
    assert "0 pass" in said
    assert "3 inconclusive" in said
    assert "64 wrong usage" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_s_help_has_an_example(fencepost: Fencepost, command: str) -> None:
    said = fencepost(*command.split(), "--help").out
    assert re.search(rf"Examples?\s+fencepost {command}", said), said


@pytest.mark.parametrize("command", ["", *COMMANDS])
@pytest.mark.parametrize("columns", [80, 100, 120])
def test_help_fits_the_terminal_and_names_no_type_of_the_language(
    fencepost: Fencepost, monkeypatch: pytest.MonkeyPatch, command: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    said = fencepost(*command.split(), "--help").out
    assert [line for line in said.splitlines() if len(line) > columns] == []
    assert re.findall(r"<(?:str|int|float|bool|path|list).*?>|{[a-z]\w*}", said) == []
    [usage] = [line for line in said.splitlines() if "Usage:" in line]
    names = usage.replace("fencepost", "").split("Usage:")[1].split()
    assert [
        name
        for name in names
        if name not in command.split() and not re.fullmatch(r"[][A-Z|.]+|PLAN.yaml|[][A-Z|.]+yaml", name)
    ] == []


def test_the_version_is_printed(fencepost: Fencepost) -> None:
    done = fencepost("--version")
    assert done.code == 0
    assert re.fullmatch(r"fencepost \d+\.\d+[^ ]*, Python 3\.\d+\.\d+\n", done.out)


def test_examples_are_indented_in_every_help(fencepost: Fencepost) -> None:
    for command in COMMANDS:
        assert re.search(rf"\n   fencepost {command}", fencepost(*command.split(), "--help").out), command


@pytest.mark.parametrize("command", COMMANDS)
def test_the_scenarios_of_examples_exist(fencepost: Fencepost, command: str) -> None:
    named = re.findall(r"fencepost (?:run|plan) ([a-z0-9-]+)(?=\s)", fencepost(command, "--help").out)
    assert {name for name in named if not name.startswith("-")} <= {scenario.slug for scenario in SCENARIOS}


def test_help_loads_nothing_that_is_slow() -> None:
    script = (
        "import sys; import fencepost.harness.cli.main as m\n"
        "print([name for name in ('confluent_kafka', 'kio', 'pydantic', 'pyspark', 'pytest') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "no-such-scenario"), "fencepost: there is no scenario 'no-such-scenario'"),
        (("run", "no-such.yaml"), "fencepost: there is no plan file no-such.yaml"),
        (("plan", "duplicate-empt"), "did you mean"),
        (("conformance", "--target", "kafka"), "there is no target 'kafka': did you mean apache-kafka?"),
        (("conformance", "kafka"), "there is no target 'kafka': did you mean apache-kafka?"),
        (("scenarios", "quorum", "--target", "apache-kafka"), "two targets are named"),
        (("campaign", "kafka"), "there is no target 'kafka': did you mean apache-kafka?"),
        (("conformance", "--backend", "podman"), "there is no backend 'podman': the backends are"),
        (("scenarios", "quorum:2.0"), "quorum has no version '2.0'"),
        (("faults", "quorum:2.0"), "quorum has no version '2.0'"),
        (("plan", "starts-fenced", "--target", "quorum:2.0"), "quorum has no version '2.0'"),
        (("campaign", "quorum:2.0", "--dry-run"), "quorum has no version '2.0'"),
        (("replay", "/no/such/run"), "there is no run folder /no/such/run"),
        (("run", "metadata-format-raised", "--security", "sasl-scram"), "`: clients log in as a super user"),
        (("status",), "no cluster is up"),
        (("clean", "/"), "/ has no processes.jsonl"),
        (("clean", "--images", "/"), "--images does not look at runs"),
    ],
)
def test_a_mistake_is_one_message_and_exit_code_64(
    fencepost: Fencepost, arguments: tuple[str, ...], message: str
) -> None:
    done = fencepost(*arguments)
    assert message in done.err
    assert (done.code, done.err.count("\n")) == (64, 1)


@pytest.mark.parametrize("command", sorted(each.callback.__name__ for each in app.registered_commands if each.callback))
def test_an_option_that_no_command_has_is_wrong_usage(fencepost: Fencepost, command: str) -> None:
    fault = ("slow",) if command == "inject" else ()
    assert fencepost(command, *fault, "--no-such-option").code == 64


@pytest.mark.parametrize(
    "arguments", [("--no-such-option",), ("conformence",), ("run",), ("conformance", "--seed", "one")]
)
def test_words_that_no_command_takes_are_wrong_usage(fencepost: Fencepost, arguments: tuple[str, ...]) -> None:
    assert fencepost(*arguments).code == 64


@pytest.mark.parametrize(
    ("error", "shown"), [(RuntimeError("a defect"), True), (OSError(errno.ENOSPC, "No space left on device"), False)]
)
def test_a_defect_is_no_violation(
    fencepost: Fencepost, monkeypatch: pytest.MonkeyPatch, error: Exception, shown: bool
) -> None:
    def broken() -> NoReturn:
        raise error

    monkeypatch.setattr("fencepost.harness.cleaning.cleanup.dead_runs", broken)
    done = fencepost("clean")
    assert done.code == 2
    assert ("Traceback" in done.err) == shown
    assert done.err.endswith(f"fencepost: {error}\n")


def test_a_plan_with_a_wrong_key_is_refused_at_its_line(fencepost: Fencepost, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("format: fencepost-plan/2\nstorry: x\n")
    done = fencepost("run", str(tmp_path / "mine.yaml"))
    assert "mine.yaml:2" in done.err
    assert done.code == 64


def test_a_scenario_s_plan_can_be_printed_and_listed(fencepost: Fencepost) -> None:
    listed = fencepost("scenarios").out
    assert "refused-duplicate" in listed
    printed = fencepost("plan", "refused-duplicate", "--seed", "7").out
    assert printed.startswith("format: fencepost-plan/2\nscenario: refused-duplicate\n")
    assert "\nseed: 7\n" in printed


@pytest.mark.integration
def test_a_suite_takes_its_own_settings_also_beside_earlier_runs(fencepost: Fencepost) -> None:
    root = Path(__file__).parents[3]
    result = fencepost("conformance", "-k", "no_such_scenario", "--runs", str(root / "tests"))
    assert "no scenario matches 'no_such_scenario'" in result.err


def test_clean_says_when_there_is_nothing_to_clean(fencepost: Fencepost) -> None:
    assert fencepost("clean").out == "nothing was left behind\n"


def test_clean_speaks_to_programs(fencepost: Fencepost) -> None:
    assert json.loads(fencepost("clean", "--json").out) == []


def test_faults_are_listed_with_what_is_missing_here(fencepost: Fencepost) -> None:
    listed = {each["fault"]: each for each in json.loads(fencepost("faults", "--json").out)}
    assert "slow" in listed
    assert listed["disconnect"]["unavailable_reason"], "the process backend has no containers"
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
        (completion.scenarios, "refused-d", ["refused-duplicate"]),
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
        [sys.executable, "-m", "fencepost.harness.cli"],
        env={**os.environ, "_FENCEPOST_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
    )
    assert f"_FENCEPOST_COMPLETE=complete_{shell}" in done.stdout
