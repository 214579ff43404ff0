"""`fencepost fleet status`: nights, plans, hours, coverage and violations by release, with exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.harness.campaign.campaign import Campaign, Order
from fencepost.harness.cli.main import run_command
from fencepost.harness.fleet.history import read_history
from fencepost.harness.publishing.folders import find
from fencepost.harness.publishing.publish import publish_runs
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict
from fencepost.results.store.store import Store
from tests.harness.publishing.conftest import CopyRun

Stored = Callable[[Verdict], Store]


@pytest.fixture
def stored(tmp_path: Path, copy_run: CopyRun) -> Stored:
    """Return a function that publishes two runs of a campaign, of which the second has this verdict."""

    def publish(verdict: Verdict) -> Store:
        campaign = Campaign.create(Order("quorum", "process", 1, 1, 1), tmp_path / "runs").folder
        _judge(copy_run(campaign / "one"), Verdict.PASS)
        _judge(copy_run(campaign / "two"), verdict)
        copy_run(tmp_path / "runs" / "of-a-suite")
        store = Store.create(str(tmp_path / "store"))
        publish_runs(find([tmp_path / "runs"]), store)
        return store

    return publish


def _judge(folder: RunFolder, verdict: Verdict) -> None:
    found = Finding(verdict, "lost-write", "", "a record was lost", "ACK-01")
    judged = RunVerdict.load(folder.verdict)
    replace(judged, verdict=verdict, headline="a record was lost", findings=(found,)).save(folder.verdict)


def test_a_release_has_its_nights_plans_and_violations(stored: Stored) -> None:
    [found] = read_history(stored(Verdict.VIOLATION))
    assert (found.nights, found.plans, found.verdicts) == (1, 2, {"pass": 1, "violation": 1})
    [violation] = found.found
    assert (violation.runs, violation.headline, violation.first) == (1, "a record was lost", found.last)


@pytest.mark.parametrize(("verdict", "code"), [(Verdict.VIOLATION, 1), (Verdict.PASS, 0)])
def test_the_exit_code_says_whether_something_was_found(
    stored: Stored, verdict: Verdict, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(verdict)
    assert _ended("fleet", "status", str(tmp_path / "store"), "--json") == code
    [release] = json.loads(capsys.readouterr().out)["releases"]
    assert release["plans"] == 2
    assert _ended("fleet", "status", str(tmp_path / "store"), "--target", "kfake") == 3
    assert "no plan of a campaign on kfake" in capsys.readouterr().out


@pytest.mark.parametrize(("verdict", "sections"), [(Verdict.VIOLATION, 2), (Verdict.PASS, 1)])
def test_the_page_has_a_table_of_violations_only_if_there_are_some(
    stored: Stored, verdict: Verdict, sections: int, tmp_path: Path
) -> None:
    stored(verdict)
    file = tmp_path / "pages" / "nights.html"
    _ended("fleet", "status", str(tmp_path / "store"), "--page", str(file))
    written = file.read_text()
    assert written.count("<section") == sections
    assert ("a record was lost" in written) == (verdict is Verdict.VIOLATION)


def test_a_page_that_cannot_be_written_is_an_error(
    stored: Stored, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(Verdict.PASS)
    (tmp_path / "file").touch()
    assert _ended("fleet", "status", str(tmp_path / "store"), "--page", str(tmp_path / "file" / "page.html")) == 64
    assert "the page cannot be written" in capsys.readouterr().err


def test_a_folder_that_is_no_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _ended("fleet", "status", str(tmp_path / "none")) == 64
    assert "none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--until", "2-new-signatures"], "--until is for a campaign on a Spark cluster"),
        (["--on", "local[1]", "--publish", "s", "--until", "soon"], "'soon' is not known"),
        (["--on", "local[1]", "--publish", "s", "--until", "0-new-signatures"], "'0-new-signatures' is not known"),
        (["--on", "local[1]", "--publish", "s", "--budget", "8"], "'8' is no time"),
        (["--on", "local[1]", "--publish", "s", "--budget", "0h"], "'0h' is no time"),
    ],
)
def test_a_wrong_end_of_a_campaign_is_refused(
    asked: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _ended("campaign", "quorum", *asked) == 64
    assert said in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def _ended(*arguments: str) -> object:
    with pytest.raises(SystemExit) as ended:
        run_command(arguments)
    return ended.value.code
