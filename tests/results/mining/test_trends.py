"""One Spark session over a folder of invented runs, good ones and broken ones."""

import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no stubs
import pytest

from results.mining.launch import launch
from results.mining.survey import State, survey
from results.mining.trends import main
from results.records.folder import Manifest, RunFolder
from results.records.journal import JournalWriter
from results.records.verdict import Finding, RunVerdict, Verdict

DAY = 1_795_000_000.0
"""2026-11-18, in unix seconds."""

# Two plans of one story; the first is nondeterministic, the second was broken from its second run on.
HISTORY = [
    ("a", Verdict.PASS),
    ("a", Verdict.VIOLATION),
    ("a", Verdict.INFRASTRUCTURE),
    ("a", Verdict.PASS),
    ("b", Verdict.PASS),
    ("b", Verdict.VIOLATION),
]


def make_run(
    runs: Path, name: str, plan_hash: str, verdict: Verdict | None, started: float, backend: str = "process"
) -> RunFolder:
    """A run whose step `cut` takes 2 s. Without a verdict it was killed half way."""
    folder = RunFolder.create_at(runs / name)
    Manifest(name, "cut", "quorum", "", backend, 1, plan_hash, started, commit="c0ffee").save(folder.manifest)
    times = iter([0.0, 0.0, 1.5, 3.5, 4.0])
    with JournalWriter(folder.journal, monotonic=lambda: next(times), wall=lambda: started) as journal:
        journal.write("run", name, "begin")
        journal.write("step", "cut", "begin")
        journal.write("step", "cut", "end", {"outcome": "done", "more": [1, {"deep": "er"}]})
        if verdict is not None:
            journal.write("run", name, "end")
    if verdict is not None:
        finding = Finding(
            verdict, "lost-write", "Lost", "It was lost.", requirement="ACK-01", level="never", evidence={"judged": 5}
        )
        idle = Finding(Verdict.PASS, "aborted-read", "Read", "None of 0.", requirement="ACK-03", evidence={"judged": 0})
        RunVerdict(verdict, "So.", "cut", "quorum", plan_hash, 4.0, 4, 0, (finding, idle)).save(folder.verdict)
    return folder


@dataclass(frozen=True)
class Mined:
    runs: Path
    printed: str

    def rows(self, table: str) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = pq.read_table(self.runs / "trends" / table).to_pylist()
        return rows

    def table(self, title: str) -> list[list[str]]:
        """The words of each row of a printed table."""
        _, _, rest = self.printed.partition(f"\n{title}\n")
        return [line.split() for line in rest.partition("\n\n")[0].splitlines()[1:]]


def test_an_empty_a_killed_a_running_and_a_judged_folder_are_told_apart(tmp_path: Path) -> None:
    make_run(tmp_path, "judged", "a", Verdict.PASS, DAY)
    make_run(tmp_path, "killed", "a", None, DAY)
    (tmp_path / "empty").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "latest").symlink_to("judged")
    (tmp_path / "campaign").mkdir()
    (tmp_path / "campaign" / "campaign.json").touch()
    (tmp_path / "running").mkdir()
    with JournalWriter(tmp_path / "running" / "journal.jsonl"):
        found = survey(tmp_path)
    assert {state: found.names(state) for state in State} == {
        State.JUDGED: ["judged"],
        State.KILLED: ["killed"],
        State.EMPTY: ["empty"],
        State.RUNNING: ["running"],
        State.CLOSED: [],
    }


def test_a_folder_that_this_user_may_not_open_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path, "judged", "a", Verdict.PASS, DAY)
    (tmp_path / "lost+found").mkdir()
    exists = Path.exists

    def closed(path: Path) -> bool:
        if path.parent.name == "lost+found":
            raise PermissionError(13, "Permission denied", str(path))
        return exists(path)

    monkeypatch.setattr(Path, "exists", closed)
    found = survey(tmp_path)
    assert found.names(State.CLOSED) == ["lost+found"]
    assert found.files("verdict") == [str(tmp_path / "judged" / "verdict.json")]


def test_nothing_is_replaced_that_is_no_table_of_the_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run(tmp_path / "runs", "judged", "a", Verdict.PASS, DAY)
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path)]) == 2
    assert f"{tmp_path / 'runs'} is no table of this job" in capsys.readouterr().out
    assert folder.verdict.is_file()


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nothing")]) == 2
    assert "is no folder" in capsys.readouterr().out


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mined]:
    runs = tmp_path_factory.mktemp("runs")
    for number, (plan_hash, verdict) in enumerate(HISTORY):
        make_run(runs, f"2026-11-18-{number}", plan_hash, verdict, DAY + 60 * number)
    killed = make_run(runs, "2026-11-18-killed", "a", None, DAY)
    with killed.journal.open("a") as file:
        file.write('{"seq": 3, "t": 9.')
    (runs / "2026-11-18-empty").mkdir()
    lost = make_run(runs, "2026-11-19-lost", "b", Verdict.VIOLATION, DAY + 86_400)
    lost.manifest.write_text('{"run": "2026-11')
    make_run(runs, "2026-11-19-slow", "a", Verdict.VIOLATION, DAY + 90_000, backend="docker")
    foreign = make_run(runs, "2026-11-19-foreign", "a", Verdict.PASS, DAY + 90_000)
    foreign.verdict.write_text("{}")
    printed = StringIO()
    with redirect_stdout(printed):
        assert launch(main, [str(runs)]) == 0
    yield Mined(runs, printed.getvalue())


@pytest.mark.integration
def test_what_could_not_be_read_is_counted_and_named(mined: Mined) -> None:
    for sentence in (
        "8 judged runs",
        "1 killed half way, not counted: 2026-11-18-killed.",
        "1 empty, not counted: 2026-11-18-empty.",
        "2026-11-18-killed: journal has 1 unreadable line.",
        "2026-11-19-lost: manifest.json is unreadable.",
        "2026-11-19-foreign: verdict.json is unreadable.",
    ):
        assert sentence in mined.printed


@pytest.mark.integration
def test_verdicts_and_durations_are_counted_by_story_target_and_backend(mined: Mined) -> None:
    assert mined.table("Stories") == [
        ["cut", "quorum", "docker", "1", "0", "1", "0", "0", "4.00", "4.00"],
        ["cut", "quorum", "process", "6", "3", "2", "1", "0", "4.00", "4.00"],
        ["cut", "quorum", "unknown", "1", "0", "1", "0", "0", "4.00", "4.00"],
    ]


@pytest.mark.integration
def test_flips_of_the_same_plan_and_of_another_are_scored_apart(mined: Mined) -> None:
    # Plan a flips twice in two pairs (infrastructure left out), b once in one; from a to b nothing changes. What a does
    # in containers is counted apart.
    assert mined.table("Flips") == [["cut", "quorum", "process", "3", "1.00", "2026-11-18-1", "1", "0.00", "–"]]


@pytest.mark.integration
def test_steps_and_the_phases_around_them_have_durations(mined: Mined) -> None:
    steps = {(row["run"], row["step"]): row["seconds"] for row in mined.rows("steps")}
    assert steps["2026-11-18-0", "cut"] == 2.0
    assert steps["2026-11-18-0", "(start)"] == 1.5
    assert steps["2026-11-18-0", "(end)"] == 0.5


@pytest.mark.integration
def test_parquet_holds_every_judged_run_by_day(mined: Mined) -> None:
    runs = {row["run"]: row for row in mined.rows("runs")}
    assert len(runs) == 8
    assert {path.name for path in (mined.runs / "trends" / "runs").glob("date=*")} == {
        "date=2026-11-18",
        "date=2026-11-19",
    }
    assert runs["2026-11-18-1"]["verdict"] == "violation"
    assert len(mined.rows("findings")) == 16


@pytest.mark.integration
def test_a_requirement_that_held_over_nothing_is_not_counted_as_held(mined: Mined) -> None:
    assert mined.table("Requirements") == [
        ["ACK-01", "quorum", "3", "0", "4", "0", "1"],
        ["ACK-03", "quorum", "0", "0", "0", "0", "8"],
    ]


@pytest.mark.integration
def test_the_page_shows_every_run_and_needs_no_network(mined: Mined) -> None:
    page = (mined.runs / "trends" / "trends.html").read_text()
    assert page.count("<title>2026-11-1") == 8
    assert "http" not in page


@pytest.mark.integration
def test_a_second_time_its_own_results_are_no_run(mined: Mined) -> None:
    assert "trends" not in [name for state in State for name in survey(mined.runs).names(state)]


def test_the_declared_schemas_have_the_fields_that_are_written(tmp_path: Path) -> None:
    from results.mining import schemas

    folder = make_run(tmp_path, "run", "a", Verdict.PASS, DAY)
    verdict = json.loads(folder.verdict.read_text())
    declared = {
        "manifest": set(schemas.MANIFEST.fieldNames()),
        "verdict": set(schemas.VERDICT.fieldNames()),
        "event": set(schemas.EVENT.fieldNames()),
    }
    assert declared["manifest"] - {schemas.CORRUPT} == set(json.loads(folder.manifest.read_text()))
    assert declared["verdict"] - {schemas.CORRUPT} == set(verdict)
    assert declared["event"] - {schemas.CORRUPT} == set(json.loads(folder.journal.read_text().splitlines()[0]))
    assert set(schemas.FINDING.fieldNames()) == set(verdict["findings"][0]) - {"counterexample"}
