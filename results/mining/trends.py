"""The job `trends`: from the folders of many runs to tables, Parquet and a page.

Names no master and sets nothing about the cluster it runs on: whoever submits it does. Folders are listed by the
driver, so `RUNS` is a path that it and the executors share.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

from results.mining import scores
from results.mining.page import Table, as_text, page
from results.mining.survey import PAGE, State, Survey, survey
from results.mining.tables import Tables, read_tables

TABLES = ("runs", "findings", "steps")


def main(argv: Sequence[str]) -> int:
    """`RUNS [--out FOLDER]`. 0, or 2 when there is no such folder, or what is not a table of this job is in the way."""
    parser = argparse.ArgumentParser(prog="trends", description="Mine the folders of many runs.")
    parser.add_argument("runs", type=Path, help="the folder that holds the folders of runs")
    parser.add_argument("--out", type=Path, help="where Parquet and the page go; RUNS/trends by default")
    arguments = parser.parse_args(argv)
    root: Path = arguments.runs
    if not root.is_dir():
        print(f"{root} is no folder: name the one that holds the folders of runs")
        return 2
    out: Path = arguments.out or root / "trends"
    if strange := [str(out / name) for name in TABLES if not _replaceable(out / name)]:
        print(f"{strange[0]} is no table of this job, and would be replaced by one: name another folder with --out")
        return 2
    spark = SparkSession.builder.appName("fencepost-trends").getOrCreate()
    try:
        _mine(spark, survey(root), out)
    finally:
        spark.stop()
    return 0


def _replaceable(table: Path) -> bool:
    """Nothing is there, or what Spark wrote: an overwrite removes all of it."""
    if not table.is_dir():
        return not table.exists()
    return all(each.name.startswith(("date=", "_", ".")) for each in table.iterdir())


def _mine(spark: SparkSession, found: Survey, out: Path) -> None:
    tables = read_tables(spark, found)
    runs = tables.runs.orderBy("started", "run").collect()
    facts = list(_facts(found, tables, runs))
    shown = [
        _table("Stories", "", scores.stories(tables.runs)),
        _table("Flips", "Neighbouring runs with different verdicts / pairs of neighbours.", scores.flips(tables.runs)),
        _table(
            "Slowest phases", "By median, in seconds; (start) is before the first step.", scores.slowest(tables.steps)
        ),
        _table("Requirements", "In how many runs each held.", scores.requirements(tables.findings)),
    ]
    out.mkdir(parents=True, exist_ok=True)
    for name, frame in zip(TABLES, (tables.runs, tables.findings, tables.steps), strict=True):
        frame.repartition(1).write.mode("overwrite").partitionBy("date").parquet(str((out / name).resolve()))
    history: dict[tuple[str, str, str], list[dict[str, object]]] = defaultdict(list)
    for run in runs:
        history[run["story"], run["target"], run["backend"]].append(run.asDict())
    (out / PAGE).write_text(page(f"Trends of {found.root}", facts, history, shown))
    print("\n".join([*facts, "", *("\n" + as_text(table) for table in shown), "", f"page: {out / PAGE}"]))


def _facts(found: Survey, tables: Tables, runs: Sequence[Row]) -> Iterable[str]:
    """What was read, and by name what was not."""
    yield f"{len(runs)} judged runs in {found.root}."
    for state in (State.KILLED, State.RUNNING, State.EMPTY, State.CLOSED):
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
