"""`releases` lists the releases of a target with the runs of each, and names those that were never run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fencepost.harness.targets.jars import ARTIFACT
from fencepost.harness.targets.registry import load_file
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.verdict import RunVerdict, Verdict
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS
from tests.harness.cli.conftest import Fencepost
from tests.harness.targets.test_maven import stand_in_for_maven


def _run(runs: Path, name: str, version: str, verdict: Verdict, day: int) -> None:
    """Store a run of a release on a day of January 2026."""
    folder = RunFolder.create_at(runs / name)
    folder.plan.write_text("scenario: x\n")
    at = datetime(2026, 1, day, 12, tzinfo=UTC).timestamp()
    Manifest(name, "starts-fenced", "apache-kafka", version, "process", 1, "0", at).save(folder.manifest)
    RunVerdict(verdict, "h", "starts-fenced", f"apache-kafka:{version}", "0", 1.0, 9, 0, ()).save(folder.verdict)


def _line(out: str, release: str) -> str:
    [line] = [" ".join(line.split()) for line in out.splitlines() if line.split()[:1] == [release]]
    return line


def test_each_release_is_shown_with_its_runs_by_verdict_and_the_day_of_the_last(
    fencepost: Fencepost, tmp_path: Path
) -> None:
    _run(tmp_path / "runs", "a", "4.0.0", Verdict.PASS, 3)
    _run(tmp_path / "runs", "b", "4.0.0", Verdict.VIOLATION, 9)
    _run(tmp_path / "runs", "c", "4.0.0", Verdict.PASS, 5)
    _run(tmp_path / "runs", "d", "3.9.2..4.0.0", Verdict.INCONCLUSIVE, 4)
    _run(tmp_path / "runs", "e", "4.0.0-acme-2", Verdict.PASS, 4)
    (tmp_path / "runs" / "torn").mkdir()
    (tmp_path / "runs" / "torn" / "verdict.json").write_text('{"format"')
    done = fencepost("releases", "apache-kafka", "--runs", str(tmp_path / "runs"))
    assert done.code == 0
    assert _line(done.out, "4.0.0") == "4.0.0 tested 2 pass, 1 violation, 1 inconclusive 2026-01-09"
    assert _line(done.out, "3.9.2").endswith("1 inconclusive 2026-01-04")
    assert _line(done.out, "4.0.0-acme-2") == "4.0.0-acme-2 not listed 1 pass 2026-01-04"
    assert _line(done.out, "3.3.0") == "3.3.0 -"
    assert "left out" in done.err and "torn" in done.err


def test_the_runs_of_a_store_count_too(fencepost: Fencepost, tmp_path: Path) -> None:
    store, at = Store.create(str(tmp_path / "store")), datetime(2026, 2, 1, tzinfo=UTC)
    row = {
        "date": at.date(),
        "run_id": "1",
        "test": "starts-fenced",
        "target": "apache-kafka",
        "release": "4.0.0",
        "backend": "process",
        "verdict": "pass",
        "started_at": at,
        "source": "fencepost",
        "run": "r",
        "attempt": 1,
        "duration_s": 1.0,
        "published_at": at,
    }
    store.add({RUNS.name: [row]})
    _run(tmp_path / "runs", "a", "4.0.0", Verdict.PASS, 3)
    arguments = ("releases", "apache-kafka", "--runs", str(tmp_path / "runs"), "--store", store.address, "--json")
    [target] = json.loads(fencepost(*arguments).out)
    [release] = [each for each in target["releases"] if each["release"] == "4.0.0"]
    assert release["runs"] == {"pass": 2}
    assert release["last_run"] == "2026-02-01"
    assert target["check"] is None


def test_a_target_without_releases_says_so(fencepost: Fencepost, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    done = fencepost("releases", "quorum", "--runs", str(tmp_path / "runs"))
    assert (done.code, done.out) == (0, "quorum lists no releases; its version is 1\n")


@pytest.mark.parametrize(
    ("new", "code", "says"),
    [
        ([], 0, ""),
        (["4.99.0"], 1, "fencepost: apache-kafka: 4.99.0 was published and never run: run a suite, and add it to "),
        (["4.0.99", "4.99.0"], 1, "fencepost: apache-kafka: 4.0.99 and 4.99.0 were published and never run: "),
        (
            ["3.2.0.1"],
            1,
            "fencepost: apache-kafka: 3.2.0.1 can be had, and `published` of the target file lacks it; ap",
        ),
    ],
)
def test_a_release_that_was_never_run_ends_the_check_with_one_message(
    fencepost: Fencepost,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    new: list[str],
    code: int,
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    stand_in_for_maven(tmp_path, monkeypatch, [*load_file("apache-kafka").tested, *new], ARTIFACT)
    done = fencepost("releases", "--check")
    assert done.code == code
    assert done.err.startswith(says)
    assert len(done.err.splitlines()) == bool(says)


def test_a_registry_that_cannot_be_reached_is_no_result(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stand_in_for_maven(tmp_path, monkeypatch, None, ARTIFACT)
    done = fencepost("releases", "apache-kafka", "--check")
    assert done.code == 2
    assert done.err.startswith("fencepost: no registry can be asked for the releases of org.apache.kafka:kafka_2.13: ")


@pytest.mark.parametrize("arguments", [("kafka",), ("--runs", "none"), ("--store", "none")])
def test_what_is_not_there_is_wrong_usage(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = fencepost("releases", *arguments)
    assert done.code == 64
    assert arguments[-1] in done.err and "Traceback" not in done.err
