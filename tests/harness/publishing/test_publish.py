"""Publishing runs loses none, adds none twice, and leaves nothing out without a word."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from pathlib import Path

import pytest

from fencepost.harness.publishing.folders import find
from fencepost.harness.publishing.publish import Publication, publish_runs
from fencepost.results.records.journal import JournalWriter
from fencepost.results.store.store import Store
from fencepost.results.store.tables import KEPT_ASIDE, OF_RUNS, RUNS
from tests.harness.publishing.conftest import CopyRun

PUBLISHERS = 4


def publish(store: Path, *folders: Path) -> Publication:
    return publish_runs(find(folders), Store.create(str(store)))


def rows(store: Path) -> dict[str, int]:
    opened = Store.open(str(store))
    return {table.name: opened.read(table, ["run_id"]).num_rows for table in (RUNS, *OF_RUNS)}


def test_publishing_twice_adds_nothing(copy_run: CopyRun, tmp_path: Path) -> None:
    copy_run(tmp_path / "runs" / "a", started=1.0)
    copy_run(tmp_path / "runs" / "b", started=2.0)
    first = publish(tmp_path / "store", tmp_path / "runs")
    once = rows(tmp_path / "store")
    second = publish(tmp_path / "store", tmp_path / "runs", tmp_path / "runs" / "a")
    assert (first.added, first.known, second.added, second.known) == (2, 0, 0, 2)
    assert rows(tmp_path / "store") == once
    assert once["runs"] == once["plans"] == 2
    assert {name for name, number in once.items() if not number} <= {"log_signatures"}


def test_folders_that_several_processes_read_are_published_alike(
    copy_run: CopyRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        copy_run(tmp_path / "runs" / f"run-{number}", started=1.0 + number)
    (tmp_path / "runs" / "run-1" / "manifest.json").write_text("{")
    alone = publish(tmp_path / "alone", tmp_path / "runs")
    monkeypatch.setattr("fencepost.harness.publishing.publish.MANY", 2)
    together = publish(tmp_path / "together", tmp_path / "runs")
    assert together == alone
    assert (together.added, [each.folder.name for each in together.aside]) == (4, ["run-1"])
    assert rows(tmp_path / "together") == rows(tmp_path / "alone")


def test_a_publication_that_was_ended_half_way_is_completed(copy_run: CopyRun, tmp_path: Path) -> None:
    folder = copy_run(tmp_path / "runs" / "a")
    publish(tmp_path / "whole", folder.path)
    half = Store.create(str(tmp_path / "half"))
    whole = Store.open(str(tmp_path / "whole"))
    half.add({"findings": whole.read(next(each for each in OF_RUNS if each.name == "findings")).to_pylist()})
    publish(tmp_path / "half", folder.path)
    assert rows(tmp_path / "half") == rows(tmp_path / "whole")


def _publish_all(store: str, runs: list[str]) -> int:
    return publish_runs(find(map(Path, runs)), Store.create(store)).added


def test_publishers_at_the_same_time_lose_nothing_and_add_nothing_twice(copy_run: CopyRun, tmp_path: Path) -> None:
    """All make the store, publish the same two runs and one of their own."""
    same = [str(copy_run(tmp_path / "same" / str(n), started=float(n)).path) for n in (1, 2)]
    own = [str(copy_run(tmp_path / "own" / f"own-{n}", started=100.0 + n).path) for n in range(PUBLISHERS)]
    store = str(tmp_path / "store")
    with multiprocessing.get_context("spawn").Pool(PUBLISHERS) as pool:
        added = pool.starmap(_publish_all, [(store, [*same, each]) for each in own])
    one = publish(tmp_path / "one", Path(same[0]))
    assert sum(added) == 2 + PUBLISHERS
    runs = Counter(Store.open(store).read(RUNS, ["run"])["run"].to_pylist())
    assert set(runs.values()) == {1} and len(runs) == 2 + PUBLISHERS
    assert one.rows * (2 + PUBLISHERS) == sum(rows(tmp_path / "store").values())


def test_each_folder_without_a_run_is_named_and_kept_aside(copy_run: CopyRun, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    copy_run(runs / "good", started=1.0)
    copy_run(runs / "killed", started=2.0).verdict.unlink()
    unjudged = copy_run(runs / "unjudged", started=3.0)
    unjudged.verdict.unlink()
    unjudged.journal.unlink()
    copy_run(runs / "broken", started=4.0).manifest.write_text("{")
    torn = copy_run(runs / "torn", started=5.0)
    torn.journal.write_bytes(torn.journal.read_bytes()[:-9])
    (runs / "foreign").mkdir()
    (runs / "foreign" / "notes.txt").write_text("not a run")
    live = copy_run(runs / "live", started=6.0)
    live.verdict.unlink()
    live.journal.unlink()
    with JournalWriter(live.journal):
        result = publish(tmp_path / "store", runs)
    assert {each.folder.name: each.reason for each in result.aside} == {
        "killed": "killed half way",
        "unjudged": "without a journal",
        "broken": "unreadable",
        "torn": "torn",
        "foreign": "foreign",
    }
    assert [path.name for path in result.running] == ["live"]
    store = Store.open(str(tmp_path / "store"))
    aside = {Path(row["folder"]).name: row for row in store.read(KEPT_ASIDE).to_pylist()}
    assert {name for name, row in aside.items() if row["published"]} == {"torn"}
    assert aside["broken"]["file"] == "manifest.json"
    assert sorted(store.read(RUNS, ["run"])["run"].to_pylist()) == ["good", "torn"]
    publish(tmp_path / "store", runs)
    assert store.read(KEPT_ASIDE).num_rows == len(aside) + 1, "`live` was killed since; the others are known"


def test_the_runs_of_a_campaign_are_found_by_each_of_its_names(copy_run: CopyRun, tmp_path: Path) -> None:
    campaign = tmp_path / "runs" / "campaign-1"
    run = copy_run(campaign / "run")
    (campaign / "campaign.json").write_text("{}")
    for place in (tmp_path / "runs", campaign, run.path):
        assert [(each.folder.path.name, each.campaign) for each in find([place]).runs] == [("run", "campaign-1")]
