"""Figures about faults are shown with medians and counts, with reasons where there are none, and with waits."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter
from tests.bench.faults import DIRECT, LINKED, faults_table
from tests.bench.faults_page import Page
from tests.bench.kept import Kept
from tests.bench.lasted import Lasted
from tests.bench.waits import Suite, suite_of

TRIED = Lasted(shown=(0.001, 0.002, 0.003), healed=(0.5, 0.5, 1.5))


def page(**more: object) -> Page:
    usual: dict[str, object] = {
        "faults": {"kill": {"process": TRIED}},
        "links": {DIRECT: {"MB/s": 40.0}, LINKED: {"MB/s": 30.0}},
        "starts": {"process": 3.04},
        "unmeasured": {"docker": "no engine answered"},
        "suite": Suite(target="quorum:1", scenarios=40, wall=180.0, chain=30.0, slowest="slow-one"),
        "load": 2.0,
    }
    return Page(**{**usual, **more})  # type: ignore[arg-type]


def test_a_fault_is_shown_by_its_median_its_slowest_and_how_often() -> None:
    assert faults_table({"kill": {"process": TRIED}}).splitlines()[-1] == (
        "| `kill` | process | 2 ms | 3 ms | 500 ms | 1,480 ms | 3 |"
    )


def test_a_fault_that_could_not_be_tried_says_why() -> None:
    lacks = Lasted(why_not="there is no compiler")
    assert faults_table({"clock-jump": {"docker": lacks}}).splitlines()[-1].endswith("| there is no compiler |")


def test_the_page_shows_everything_that_was_measured_and_what_was_not() -> None:
    console = Console(width=200)
    with console.capture() as captured:
        page().show(console)
    said = captured.get()
    for text in (
        "Not measured on docker: no engine answered.",
        "0.75",
        "3.0 s on process",
        "6.0 times the longest chain",
    ):
        assert text in said


def test_the_figures_are_all_there_for_machines() -> None:
    figures = page().figures()
    assert figures["faults"]["kill"]["process"]["healed"] == (0.5, 0.5, 1.5)
    assert figures["suite"]["ratio"] == 6.0


def run_of(runs: Path, name: str, *waits: str) -> None:
    folder = RunFolder.create_at(runs / name)
    with JournalWriter(folder.journal) as journal:
        journal.write("run", name, "begin", {"scenario": name})
        for number, do in enumerate(waits):
            journal.write("step", f"s{number}", "begin", {"do": do})
            journal.write("step", f"s{number}", "end", {"outcome": "done"})
        journal.write("run", name, "end")


def test_a_suite_is_held_beside_the_scenario_that_waits_longest(tmp_path: Path) -> None:
    run_of(tmp_path, "idle", "inject")
    run_of(tmp_path, "patient", "await", "hold", "probe")
    found = suite_of(tmp_path)
    assert (found.scenarios, found.slowest) == (2, "patient")
    assert 0 < found.chain <= found.wall


def test_a_folder_without_runs_has_no_suite(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="came to its end"):
        suite_of(tmp_path)


def test_what_was_measured_to_its_end_is_not_measured_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "kept.jsonl")
    kept.keep("process", "kill", TRIED)
    kept.keep("process", "stall", Lasted(shown=(0.5,), healed=(0.5,), why_not="the engine went away"))
    with kept.file.open("a") as file:  # type: ignore[union-attr]
        file.write('{"backend": "proc')
    kept.keep("docker", "kill", Lasted(shown=(1.0, 2.0), healed=(1.0, 2.0)))
    assert faults_table({"kill": {"process": kept.find("process", "kill") or Lasted()}}) == faults_table(
        {"kill": {"process": TRIED}}
    )
    assert kept.find("docker", "kill") is not None
    assert kept.find("process", "stall") is None


def test_without_a_file_nothing_is_kept() -> None:
    Kept().keep("process", "kill", TRIED)
    assert Kept().find("process", "kill") is None
