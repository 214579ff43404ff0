"""`fencepost results import`: exit codes, what is said, and what a folder holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.harness.cli.commands.store import ImportKind, ImportOptions
from fencepost.harness.cli.import_results import import_results
from fencepost.harness.errors import UsageError

GOOD = '<testsuite name="s" timestamp="2026-11-20T08:00:00"><testcase classname="s" name="a" time="1"/></testsuite>'
CI_VARIABLES = ("GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "BUILDKITE")


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "reports"
    folder.mkdir()
    return folder


def options(reports: Path, **more: object) -> ImportOptions:
    given = {"kind": ImportKind.JUNIT, "folder": reports, "to": str(reports.parent / "store")}
    return ImportOptions(**given | more)  # type: ignore[arg-type]


def test_what_came_in_and_what_was_assumed_is_said(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (reports / "r.xml").write_text(GOOD)
    assert import_results(options(reports, time_zone="Europe/Berlin")) == 0
    said = capsys.readouterr().out
    assert "1 result," in said and "Europe/Berlin" in said and "unknown one" in said
    assert import_results(options(reports, commit="1a2b")) == 0
    assert "0 results, 1 known already" in capsys.readouterr().out


@pytest.mark.parametrize("good", [True, False])
def test_less_than_everything_is_named_and_ends_with_2(
    reports: Path, capsys: pytest.CaptureFixture[str], good: bool
) -> None:
    (reports / "torn.xml").write_text(GOOD[:50])
    if good:
        (reports / "good.xml").write_text(GOOD)
    assert import_results(options(reports, as_json=True)) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["added"] == int(good) and [Path(path).name for path in found["unreadable"]] == ["torn.xml"]


def test_explain_says_what_is_recognized_and_imports_nothing(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (reports / "r.xml").write_text(f'<testsuites name="vitest tests">{GOOD}</testsuites>')
    (reports / "a-result.json").write_text('{"uuid": "a", "name": "n", "status": "passed", "start": 1795800000000}')
    assert import_results(ImportOptions(explain=reports)) == 0
    said = capsys.readouterr().out
    assert "r.xml: Vitest, 1 test, 1 attempt, 0 skipped" in said and "retries of a test" in said
    assert "Allure, 1 test" in said and not (reports.parent / "store").exists()
    (reports / "torn.xml").write_text("<")
    assert import_results(ImportOptions(explain=reports, as_json=True)) == 2
    assert [each["runner"] for each in json.loads(capsys.readouterr().out)["files"]] == ["Vitest", "Allure"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"to": None}, "--explain"),
        ({"time_zone": "Nowhere/Land"}, "--time-zone"),
        ({"commit_from": "path:("}, "regular expression"),
        ({"commit_from": "file:C", "commit": "1a2b"}, "give one"),
        ({}, r"has no \*.xml"),
        ({"folder": Path("missing")}, "no folder"),
    ],
)
def test_wrong_usage_says_what_to_do(reports: Path, more: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        import_results(options(reports, **more))


def test_the_commit_of_the_job_is_that_of_the_results(reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fencepost.results.store.store import Store
    from fencepost.results.store.tables import RUNS

    (reports / "r.xml").write_text(GOOD)
    for name, value in (("GITLAB_CI", "true"), ("CI_COMMIT_SHA", "1a2b"), ("CI_COMMIT_REF_NAME", "main")):
        monkeypatch.setenv(name, value)
    import_results(options(reports))
    [row] = Store.open(str(reports.parent / "store")).read(RUNS).to_pylist()
    assert (row["build"], row["branch"], row["ci_system"]) == ("1a2b", "main", "GitLab")
