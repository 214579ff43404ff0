"""One Spark session over a folder of invented runs, good ones and broken ones."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fencepost.results.mining.trends import main
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.journal import JournalWriter
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.survey import FolderState, survey
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict

DAY = 1_795_000_000.0
"""2026-11-18, in unix seconds."""

# Two plans of one scenario; the first is nondeterministic, the second was broken from its second run on.
HISTORY = [
    ("a", Verdict.PASS),
    ("a", Verdict.VIOLATION),
    ("a", Verdict.INFRASTRUCTURE),
    ("a", Verdict.PASS),
    ("b", Verdict.PASS),
    ("b", Verdict.VIOLATION),
]


def make_run(
    runs: Path,
    name: str,
    plan_hash: str,
    verdict: Verdict | None,
    started: float,
    backend: str = "process",
    *,
    target: str = "quorum",
    starts_nodes: bool = True,
    planted_defect: str = "",
) -> RunFolder:
    """A run whose step `cut` takes 2 s. Without a verdict it was killed half way."""
    folder = RunFolder.create_at(runs / name)
    folder.report.touch()
    Manifest(
        name,
        "cut",
        "quorum",
        "",
        backend,
        1,
        plan_hash,
        started,
        commit="c0ffee",
        ci={"job": "nightly", "branch": "trunk"},
        target_digest="sha256:0b3f",
    ).save(folder.manifest)
    times = iter([0.0, 0.0, *([0.5] if starts_nodes else []), 1.5, 3.5, 4.0])
    with JournalWriter(folder.journal, monotonic=lambda: next(times), wall=lambda: started) as journal:
        journal.write("run", name, "begin")
        if starts_nodes:
            journal.write("node", "node-4", "started")
        journal.write("step", "cut", "begin")
        journal.write("step", "cut", "end", {"outcome": "done", "more": [1, {"deep": "er"}]})
        if verdict is not None:
            journal.write("run", name, "end")
    if verdict is not None:
        finding = Finding(
            verdict,
            "lost-write",
            "Lost",
            "It was lost.",
            requirement="ACK-01",
            level="never",
            evidence={"judged": 5},
            also=("ACK-02",),
        )
        idle = Finding(Verdict.PASS, "aborted-read", "Read", "None of 0.", requirement="ACK-03", evidence={"judged": 0})
        rules = (
            RequirementResult("ACK-01", RequirementState.HELD, "No acknowledged record is lost."),
            RequirementResult("K631-57", RequirementState.NOT_EXERCISED),
        )
        RunVerdict(verdict, "So.", "cut", target, plan_hash, 4.0, 4, 0, (finding, idle), rules, planted_defect).save(
            folder.verdict
        )
    return folder


@dataclass(frozen=True)
class Mined:
    runs: Path
    printed: str
    errors: str

    def rows(self, table: str) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = pq.read_table(self.runs / "trends" / table).to_pylist()
        return rows

    def table(self, title: str) -> list[list[str]]:
        """The words of each row of a printed table."""
        _, _, rest = self.printed.partition(f"\n{title}\n")
        return [line.split() for line in rest.partition("\n\n")[0].splitlines()[1:]]


def test_an_empty_a_killed_a_running_and_a_judged_folder_are_distinguished(tmp_path: Path) -> None:
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
    assert {state: found.names(state) for state in FolderState} == {
        FolderState.JUDGED: ["judged"],
        FolderState.KILLED: ["killed"],
        FolderState.EMPTY: ["empty"],
        FolderState.RUNNING: ["running"],
        FolderState.CLOSED: [],
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
    assert found.names(FolderState.CLOSED) == ["lost+found"]
    assert found.files("verdict") == [str(tmp_path / "judged" / "verdict.json")]


def test_nothing_is_replaced_that_is_no_table_of_the_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run(tmp_path / "runs", "judged", "a", Verdict.PASS, DAY)
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path)]) == 64
    assert f"{tmp_path / 'runs'} is not a table of this job" in capsys.readouterr().out
    assert folder.verdict.is_file()


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nothing")]) == 64
    assert "is not a folder" in capsys.readouterr().out


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
    make_run(runs, "2026-11-19-typo", "c", Verdict.INFRASTRUCTURE, DAY, target="apache-kafka:9.9.9", starts_nodes=False)
    make_run(runs, "2026-11-19-mutant", "a", Verdict.VIOLATION, DAY, planted_defect="no_self_fence")
    for number, verdict in enumerate((Verdict.PASS, Verdict.VIOLATION)):
        # A campaign may have the name of another run.
        make_run(runs, f"campaign-1/2026-11-18-{number}", f"random-{number}", verdict, DAY)
    (runs / "campaign-1" / "campaign.json").write_text("{}")
    # Another process, because the JVM writes its errors past Python's.
    done = subprocess.run(
        [sys.executable, "-m", "fencepost.harness.cli", "trends", str(runs)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    yield Mined(runs, done.stdout, done.stderr)


@pytest.mark.integration
def test_what_could_not_be_read_is_counted_and_named(mined: Mined) -> None:
    for message in (
        "12 judged runs",
        "2 of them random plans of 1 campaign.",
        "1 judged, but no node started, not counted: 2026-11-19-typo.",
        "1 judged, but with the planted defect no_self_fence, not counted: 2026-11-19-mutant.",
        "1 killed half way, not counted: 2026-11-18-killed.",
        "1 without a journal, not counted: 2026-11-18-empty.",
        "2026-11-18-killed: journal has 1 unreadable line.",
        "2026-11-19-lost: manifest.json is unreadable.",
        "2026-11-19-foreign: verdict.json is unreadable.",
    ):
        assert message in mined.printed


@pytest.mark.integration
def test_verdicts_and_durations_are_counted_by_scenario_target_and_backend(mined: Mined) -> None:
    assert mined.table("Scenarios") == [
        ["(random", "plans)", "quorum", "process", "2", "1", "1", "0", "0", "4.00", "4.00"],
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
    assert len(runs) == 12
    assert [runs[f"campaign-1/2026-11-18-{number}"]["verdict"] for number in (0, 1)] == ["pass", "violation"]
    assert runs["campaign-1/2026-11-18-0"]["campaign"] == "campaign-1"
    assert runs["2026-11-19-mutant"]["planted_defect"] == "no_self_fence"
    assert {row["run"] for row in runs.values() if row["left_out"]} == {"2026-11-19-mutant", "2026-11-19-typo"}
    assert {path.name for path in (mined.runs / "trends" / "runs").glob("date=*")} == {
        "date=2026-11-18",
        "date=2026-11-19",
    }
    assert runs["2026-11-18-1"]["verdict"] == "violation"
    what = ("target_digest", "target_commit", "branch", "ci_job", "ci_url", "planted_defect")
    assert [runs["2026-11-18-1"][each] for each in what] == ["sha256:0b3f", None, "trunk", "nightly", None, None]
    assert len(mined.rows("findings")) == 24


@pytest.mark.integration
def test_a_requirement_that_held_over_nothing_or_is_only_named_is_not_counted_as_held(mined: Mined) -> None:
    assert mined.table("Requirements") == [
        ["ACK-01", "quorum", "4", "0", "5", "0", "1", *["No", "acknowledged", "record", "is", "lost."]],
        ["ACK-02", "quorum", "4", "0", "5", "0", "1", "–"],
        ["ACK-03", "quorum", "0", "0", "0", "0", "10", "–"],
        ["K631-57", "quorum", "0", "0", "0", "0", "10", "–"],
    ]


@pytest.mark.integration
def test_the_page_shows_every_run_and_needs_no_network(mined: Mined) -> None:
    page = (mined.runs / "trends" / "trends.html").read_text()
    assert page.count("<title>2026-11-1") == 10
    assert "http" not in page
    assert '<a href="../2026-11-18-1/report.html"><rect' in page
    assert '<a href="../campaign-1/2026-11-18-1/report.html"><rect' in page
    assert "Build: digest 0b3f, branch trunk, job nightly." in page


@pytest.mark.integration
def test_spark_says_nothing_unless_it_fails(mined: Mined) -> None:
    assert mined.errors == ""


@pytest.mark.integration
def test_a_second_time_its_own_results_are_no_run(mined: Mined) -> None:
    assert "trends" not in [name for state in FolderState for name in survey(mined.runs).names(state)]


def test_the_declared_schemas_have_the_fields_that_are_written(tmp_path: Path) -> None:
    from fencepost.results.mining import schemas

    folder = make_run(tmp_path, "run", "a", Verdict.PASS, DAY)
    verdict = json.loads(folder.verdict.read_text())
    declared = {
        "manifest": set(schemas.MANIFEST.fieldNames()),
        "verdict": set(schemas.VERDICT.fieldNames()),
        "event": set(schemas.EVENT.fieldNames()),
    }
    assert declared["manifest"] - {schemas.CORRUPT, *schemas.EARLIER_RUN} == set(
        json.loads(folder.manifest.read_text())
    )
    assert declared["verdict"] - {schemas.CORRUPT, *schemas.EARLIER_RUN} == set(verdict)
    assert declared["event"] - {schemas.CORRUPT} == set(json.loads(folder.journal.read_text().splitlines()[0]))
    assert set(schemas.FINDING.fieldNames()) - set(schemas.EARLIER_FINDING) == set(verdict["findings"][0]) - {
        "counterexample"
    }
