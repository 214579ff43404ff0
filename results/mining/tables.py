"""The tables that everything else is computed from: runs, findings, steps; and what could not be read."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from results.mining.schemas import CORRUPT, EVENT, MANIFEST, VERDICT
from results.mining.survey import Survey


@dataclass(frozen=True, slots=True)
class Tables:
    """- runs: one row a judged run (run, date, started, story, target, plan_hash, commit, seed, verdict, duration).
    - findings: one row a finding (run, date, story, target, and the finding's own columns).
    - steps: one row a step or phase of a run (run, date, story, target, step, seconds, outcome).
    - unreadable: one row a file (run, file, lines): lines that are not what they should be, torn last ones included.
    """

    runs: DataFrame
    findings: DataFrame
    steps: DataFrame
    unreadable: DataFrame


def read_tables(spark: SparkSession, found: Survey) -> Tables:
    manifests = _read(spark, found.files("manifest"), MANIFEST, whole=True)
    verdicts = _read(spark, found.files("verdict"), VERDICT, whole=True)
    journals = _read(spark, found.files("journal"), EVENT, whole=False)
    events = _good(journals)
    began = events.groupBy("run").agg(F.min("wall").alias("began"))
    judged = _good(verdicts).join(_good(manifests).select("run", "started", "seed", "commit"), "run", "left")
    judged = judged.join(began, "run", "left").withColumn("started", F.coalesce("started", "began"))
    judged = judged.withColumn("date", _date("run", "started")).cache()
    runs = judged.select(
        "run", "date", "started", "story", "target", "plan_hash", "commit", "seed", "verdict", "duration", "headline"
    )
    findings = judged.select("run", "date", "story", "target", F.explode("findings").alias("finding")).select(
        "run", "date", "story", "target", "finding.*"
    )
    steps = _steps(events).join(runs.select("run", "date", "story", "target"), "run")
    unreadable = _bad(manifests, "manifest.json").union(_bad(verdicts, "verdict.json")).union(_bad(journals, "journal"))
    return Tables(runs, findings, steps, unreadable)


def _read(spark: SparkSession, paths: Sequence[str], schema: StructType, *, whole: bool) -> DataFrame:
    """JSON files with the name of their run. A malformed one is a row with its text in the corrupt column."""
    if not paths:
        return spark.createDataFrame([], schema).withColumn("run", F.lit(""))
    reader = spark.read.schema(schema).option("mode", "PERMISSIVE").option("columnNameOfCorruptRecord", CORRUPT)
    frame = reader.option("multiLine", whole).json(list(paths))
    return frame.withColumn("run", F.element_at(F.split(F.col("_metadata.file_path"), "/"), -2)).cache()


def _good(frame: DataFrame) -> DataFrame:
    return frame.where(F.col(CORRUPT).isNull()).drop(CORRUPT)


def _bad(frame: DataFrame, file: str) -> DataFrame:
    bad = frame.where(F.col(CORRUPT).isNotNull())
    return bad.groupBy("run").agg(F.count("*").alias("lines")).select("run", F.lit(file).alias("file"), "lines")


def _date(run: str, started: str) -> Column:
    """The day of a run: of its start, or of its name where neither manifest nor journal tells it."""
    of_start = F.date_format(F.timestamp_seconds(F.col(started)), "yyyy-MM-dd")
    return F.coalesce(of_start, F.regexp_extract(run, r"^(\d{4}-\d{2}-\d{2})", 1))


def _steps(events: DataFrame) -> DataFrame:
    """How long each step took; and before the first and after the last the phases `(start)` and `(end)`."""
    step, run = F.col("type") == "step", F.col("type") == "run"
    begin, end = F.col("phase") == "begin", F.col("phase") == "end"
    steps = (
        events.where(step)
        .groupBy("run", F.col("id").alias("step"))
        .agg(
            (F.min(F.when(end, F.col("t"))) - F.min(F.when(begin, F.col("t")))).alias("seconds"),
            F.first(F.when(end, F.col("data.outcome")), ignorenulls=True).alias("outcome"),
        )
    )
    edges = events.where(step | run).groupBy("run")
    around = edges.agg(
        F.min(F.when(run & begin, F.col("t"))).alias("begun"),
        F.min(F.when(step, F.col("t"))).alias("first"),
        F.max(F.when(step, F.col("t"))).alias("last"),
        F.max(F.when(run & end, F.col("t"))).alias("ended"),
    )
    phases = [
        around.select("run", F.lit(name).alias("step"), seconds.alias("seconds"), F.lit("done").alias("outcome"))
        for name, seconds in (
            ("(start)", F.col("first") - F.col("begun")),
            ("(end)", F.col("ended") - F.col("last")),
        )
    ]
    return steps.union(phases[0]).union(phases[1]).where(F.col("seconds").isNotNull())
