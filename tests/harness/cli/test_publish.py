"""`fencepost publish` and `fencepost results` as a user meets them."""

from __future__ import annotations

import json
import shutil
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from fencepost.harness.cli.publish import publish_at_end
from fencepost.results.records.verdict import Verdict
from fencepost.results.store.store import VERSION, Store
from fencepost.results.store.tables import RUNS
from tests.harness.cli.conftest import Fencepost
from tests.results.store.stores import finding, run

ARCHIVE = Path(__file__).parent.parent / "saved_runs" / "two-leaders-loss.tar.xz"
JUNIT = (
    '<testsuite name="s"><testcase classname="C" name="t" time="1"/>'
    '<testcase name="u"><skipped/></testcase></testsuite>'
)


def test_runs_are_published_and_what_is_none_is_named(fencepost: Fencepost, tmp_path: Path) -> None:
    runs, store = tmp_path / "runs", tmp_path / "store"
    shutil.unpack_archive(ARCHIVE, runs)
    (runs / "foreign").mkdir()
    said = fencepost("publish", str(runs), "--to", str(store))
    assert said.code == 0
    assert "published      1 run (" in said.out
    assert "kept aside     1 foreign" in said.out
    assert f"{runs}/foreign: it has neither a plan nor a manifest" in said.out
    again = json.loads(fencepost("publish", str(runs), "--to", str(store), "--json").out)
    assert {each["reason"] for each in again["kept_aside"]} == {"foreign"}
    assert (again["added"], again["known"], again["rows"]) == (0, 1, 0)


def test_wrong_calls_end_with_64_and_say_what_to_do(fencepost: Fencepost, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    (tmp_path / "mine" / "run").mkdir()
    for call, expected in {
        ("publish", "absent", "--to", "store"): "there is no folder absent",
        ("publish", "empty", "--to", "store"): "empty has no run folder",
        ("publish", "mine", "--to", "mine"): "is no store, and the folder has other files",
        ("results", "check", "mine"): "mine is no store",
        ("results", "compact", "absent"): "there is no such folder; `fencepost publish RUNS --to STORE` makes one",
        ("results", "expire", "mine", "--older-than", "3x"): "'3x' is no age",
        ("results", "import", "junit", "absent", "--to", "store"): "there is no folder absent",
        ("results", "import", "junit", "empty", "--to", "store"): "empty has no *.xml",
        ("conformance", "--publish", "mine", "-k", "starts-fenced"): "mine is no store",
        ("campaign", "quorum", "--plans", "1", "--publish", "mine"): "mine is no store",
    }.items():
        names = ("absent", "empty", "mine", "store")
        said = fencepost(*(str(tmp_path / word) if word in names else word for word in call))
        assert (said.code, expected in said.err.replace(f"{tmp_path}/", "")) == (64, True), (call, said)
    assert not (tmp_path / "store").exists()


def test_a_newer_store_is_refused_with_64(fencepost: Fencepost, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path))
    store.delta(RUNS).alter.set_table_properties({VERSION: "99"}, raise_if_not_exists=False)
    said = fencepost("results", "check", str(tmp_path))
    assert (said.code, "use a newer fencepost" in said.err) == (64, True)


def test_check_ends_with_2_for_half_a_publication(fencepost: Fencepost, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path))
    store.add({"runs": [run("a")], "findings": [finding("a")]})
    assert fencepost("results", "check", str(tmp_path)).code == 0
    store.add({"findings": [finding("b")]})
    said = fencepost("results", "check", str(tmp_path))
    assert (said.code, "publish them again" in said.out) == (2, True)
    assert not json.loads(fencepost("results", "check", str(tmp_path), "--json").out)["whole"]


def test_a_dry_run_of_expire_removes_nothing(fencepost: Fencepost, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path))
    store.add({"runs": [run(f"r{n}", 30 + n) for n in range(3)]})
    call = ("results", "expire", str(tmp_path), "--older-than", "10d", "--keep", "1")
    assert "would expire   2 runs" in fencepost(*call, "--dry-run").out
    assert store.read(RUNS).num_rows == 3
    assert "expired        2 runs" in fencepost(*call).out
    assert store.read(RUNS).num_rows == 1
    assert "runs           " in fencepost("results", "compact", str(tmp_path)).out


def test_the_job_of_ci_is_taken_from_the_environment(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"GITLAB_CI": "1", "CI_JOB_NAME": "unit", "CI_COMMIT_SHA": "1a2b"}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "TEST.xml").write_text(JUNIT)
    call = ("results", "import", "junit", str(tmp_path), "--to", str(tmp_path / "store"), "--target", "acme")
    assert "imported       1 result, 1 skipped by their suite" in fencepost(*call).out
    assert json.loads(fencepost(*call, "--json").out)["known"] == 1
    [row] = Store.open(str(tmp_path / "store")).read(RUNS).to_pylist()
    assert (row["test"], row["ci_job"], row["commit"], row["target"]) == ("s::C::t", "unit", "1a2b", "acme")


def test_a_suite_that_publishes_at_its_end_says_what_was_added(tmp_path: Path) -> None:
    shutil.unpack_archive(ARCHIVE, tmp_path / "runs")
    [folder] = (tmp_path / "runs").iterdir()
    console = Console(file=StringIO(), width=200)
    assert publish_at_end([folder], str(tmp_path / "store"), console) is Verdict.PASS
    assert "published      1 run (" in console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    assert Store.open(str(tmp_path / "store")).read(RUNS).num_rows == 1


def test_a_store_that_fails_at_the_end_is_no_pass_and_the_command_for_later_is_said(tmp_path: Path) -> None:
    shutil.unpack_archive(ARCHIVE, tmp_path / "runs")
    [folder] = (tmp_path / "runs").iterdir()
    (tmp_path / "store").write_text("no folder")
    console = Console(file=StringIO(), width=400)
    assert publish_at_end([folder], str(tmp_path / "store"), console) is Verdict.INFRASTRUCTURE
    said = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    assert "not published" in said and f"later: fencepost publish {folder} --to {tmp_path}/store" in said
