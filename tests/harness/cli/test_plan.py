"""`fencepost plan FILE` checks a plan file, and --target goes before the target that a file names, in `run` as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.cli.plan import plan_to_run
from fencepost.harness.plan import dump_plan
from fencepost.harness.targets.registry import VARIABLE
from tests.harness.cli.conftest import Fencepost
from tests.harness.targets.test_registry import ACME


@pytest.fixture
def mine(fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan file for `quorum:1`, and beside it the target file `acme.yaml`."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    Path("acme.yaml").write_text(ACME.replace("[links, kill]", "[links, kill, pause]"))
    path = Path("mine.yaml")
    path.write_text(fencepost("plan", "restart-inside-the-lease").out)
    return path


def test_a_file_that_can_be_run_is_printed_and_called_right(fencepost: Fencepost, mine: Path) -> None:
    done = fencepost("plan", str(mine))
    assert (done.code, done.out) == (0, mine.read_text())
    assert done.err == "mine.yaml is right: `fencepost run` can run it on quorum:1\n"


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("scenario:", "scenari:", "unknown key `scenari` at mine.yaml:2; did you mean `scenario`?"),
        ("index: 4", "index: 5", "at mine.yaml:"),
        ("roles: [controller]", "roles: [broker]", "the topology of the plan has no controller"),
    ],
)
def test_a_mistake_is_reported_as_a_run_reports_it(
    fencepost: Fencepost, mine: Path, right: str, wrong: str, message: str
) -> None:
    text = mine.read_text()
    assert right in text
    mine.write_text(text.replace(right, wrong) if "roles" in right else text.replace(right, wrong, 1))
    checked, run = fencepost("plan", str(mine)), fencepost("run", str(mine))
    assert (checked.code, checked.out) == (64, "")
    assert message in checked.err
    assert run.err == checked.err
    assert not Path("runs").exists()


def test_an_option_goes_before_the_target_of_the_file(fencepost: Fencepost, mine: Path) -> None:
    done = fencepost("plan", str(mine), "--target", "./acme.yaml")
    assert done.code == 0
    assert done.out == mine.read_text().replace("target: quorum:1\n", "target: acme:1\n")
    assert plan_to_run(str(mine), "./acme.yaml", 1).target == "acme:1"


def test_an_option_that_names_the_same_target_changes_nothing(mine: Path) -> None:
    mine.write_text(mine.read_text().replace("target: quorum:1\n", "target: acme\n"))
    assert dump_plan(plan_to_run(str(mine), "./acme.yaml", 1)) == mine.read_text()
    assert plan_to_run(str(mine), "acme:1", 1).target == "acme:1"


def test_a_plan_that_does_not_fit_the_target_of_the_option_is_refused(fencepost: Fencepost, mine: Path) -> None:
    done = fencepost("plan", str(mine), "--target", "leader-driven")
    assert done.code == 64
    assert "no zookeeper, and no cluster of leader-driven serves without one" in done.err


def test_a_file_whose_target_is_unknown_can_be_run_on_another(fencepost: Fencepost, mine: Path) -> None:
    mine.write_text(mine.read_text().replace("target: quorum:1\n", "target: elsewhere:1\n"))
    refused = fencepost("plan", str(mine))
    assert refused.code == 64
    assert "there is no target 'elsewhere'" in refused.err
    assert "The plan mine.yaml names that one; --target TARGET runs it on another" in refused.err
    assert "target: acme:1\n" in fencepost("plan", str(mine), "--target", "./acme.yaml").out


def test_a_file_that_is_not_there_is_named(fencepost: Fencepost, mine: Path) -> None:
    done = fencepost("plan", "none.yaml")
    assert (done.code, done.err) == (64, "fencepost: there is no plan file none.yaml\n")
