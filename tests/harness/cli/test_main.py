"""The command as a user meets it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
        (("conformance", "--backend", "podman"), "there is no backend 'podman': the backends are"),
        (("replay", "/no/such/run"), "there is no run folder /no/such/run"),
        (("status",), "no cluster is up"),
        (("clean", "/"), "/ has no processes.jsonl"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    fencepost: Fencepost, arguments: tuple[str, ...], sentence: str
) -> None:
    done = fencepost(*arguments)
    assert sentence in done.err
    assert (done.code, done.err.count("\n")) == (2, 1)


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
