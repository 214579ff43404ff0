"""The job `trends`: from the folders of many runs to tables, Parquet and a page.

The job sets neither the master nor anything else of the Spark cluster: spark-submit does. The driver lists the folders,
so the driver and the executors must share the path `RUNS`.
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from pyspark.sql import DataFrame, Row, SparkSession

from fencepost.results.mining import scores
from fencepost.results.mining.page import Table, as_text, page
from fencepost.results.mining.tables import Tables, read_tables
from fencepost.results.records.folder import RANDOM_PLANS, RunFolder
from fencepost.results.records.survey import TRENDS_PAGE, FolderState, Survey, survey
from fencepost.results.records.verdict import WRONG_USAGE

TABLES = ("runs", "findings", "steps")


def main(argv: Sequence[str]) -> int:
    """Run the job with the arguments `RUNS [--out FOLDER]`.

    Return 0, or WRONG_USAGE if there is no such folder, or if a file in the output folder is not of this job.
    """
    parser = argparse.ArgumentParser(prog="trends", description="Mine the folders of many runs.")
    parser.add_argument("runs", type=Path, help="the folder that holds the folders of runs")
    parser.add_argument("--out", type=Path, help="where Parquet and the page go; RUNS/trends by default")
    arguments = parser.parse_args(argv)
    root: Path = arguments.runs
    if not root.is_dir():
        print(f"{root} is not a folder: give the folder that holds the folders of runs")
        return WRONG_USAGE
    out: Path = arguments.out or root / "trends"
    if foreign := [str(out / name) for name in TABLES if not _replaceable(out / name)]:
        print(f"{foreign[0]} is not a table of this job, and would be replaced: give another folder with --out")
        return WRONG_USAGE
    spark = SparkSession.builder.appName("fencepost-trends").getOrCreate()
    try:
        _mine(spark, survey(root).with_campaigns(), out)
    finally:
        spark.stop()
    return 0


def _replaceable(table: Path) -> bool:
    """Return whether the path is free, or a table that Spark wrote: an overwrite removes all of it."""
    if not table.is_dir():
        return not table.exists()
    return all(each.name.startswith(("date=", "_", ".")) for each in table.iterdir())


def _mine(spark: SparkSession, found: Survey, out: Path) -> None:
    tables = read_tables(spark, found)
    runs = tables.runs.orderBy("started", "run").collect()
    facts = list(_facts(found, tables, runs))
    counted, steps, findings, not_exercised = (
        each.where("left_out is null") for each in (tables.runs, tables.steps, tables.findings, tables.not_exercised)
    )
    not_random = "Without the runs of campaigns." if found.campaigns else ""
    shown = [
        _table("Scenarios", "", scores.scenarios(counted)),
        _table(
            "Flips",
            f"Neighbouring runs with different verdicts / pairs of neighbours. {not_random}".strip(),
            scores.flips(counted),
        ),
        _table(
            "Slowest phases",
            f"By median, in seconds; (start) is before the first step. {not_random}".strip(),
            scores.slowest(steps),
        ),
        _table(
            "Requirements", "In how many runs each held.", scores.requirements(findings, not_exercised, tables.rules)
        ),
    ]
    out.mkdir(parents=True, exist_ok=True)
    for name, frame in zip(TABLES, (tables.runs, tables.findings, tables.steps), strict=True):
        frame.repartition(1).write.mode("overwrite").partitionBy("date").parquet(str((out / name).resolve()))
    history: dict[tuple[str, str, str], list[dict[str, object]]] = defaultdict(list)
    for run in runs:
        scenario = run["scenario"] if run["campaign"] is None else RANDOM_PLANS
        report = RunFolder(found.root / run["run"]).report
        link = quote(Path(os.path.relpath(report, out)).as_posix()) if report.is_file() else ""
        history[scenario, run["target"], run["backend"]].append(run.asDict() | {"report": link})
    (out / TRENDS_PAGE).write_text(page(f"Trends of {found.root}", facts, history, shown))
    print("\n".join([*facts, "", *("\n" + as_text(table) for table in shown), "", f"page: {out / TRENDS_PAGE}"]))


def _facts(found: Survey, tables: Tables, runs: Sequence[Row]) -> Iterable[str]:
    """Yield the counts of the runs that were read, and the names of those that were not."""
    random = sum(run["campaign"] is not None for run in runs)
    campaigns = f"{len(found.campaigns)} campaign{'s'[: len(found.campaigns) != 1]}"
    of_campaigns = f", {random} of them random plans of {campaigns}" if found.campaigns else ""
    yield f"{len(runs)} judged runs in {found.root}{of_campaigns}."
    left_out: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        if run["left_out"] is not None:
            left_out[run["left_out"]].append(run["run"])
    for reason, names in left_out.items():
        yield f"{len(names)} judged, but {reason}, not counted: {', '.join(names)}."
    for state in (FolderState.KILLED, FolderState.RUNNING, FolderState.EMPTY, FolderState.CLOSED):
        if names := found.names(state):
            yield f"{len(names)} {state.value}, not counted: {', '.join(names)}."
    for row in tables.unreadable.orderBy("run", "file").collect():
        lines = f"{row['lines']} unreadable line{'s'[: row['lines'] != 1]}"
        yield (
            f"{row['run']}: {row['file']} has {lines}."
            if row["file"] == "journal"
            else f"{row['run']}: {row['file']} is unreadable."
        )


def _table(title: str, note: str, frame: DataFrame) -> Table:
    return Table.of(title, note, frame.columns, (row.asDict() for row in frame.collect()))
