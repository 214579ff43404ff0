"""The tables that everything else is computed from: runs, findings, steps; and what could not be read."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from results.mining.schemas import CORRUPT, EVENT, MANIFEST, VERDICT
from results.mining.survey import Survey
from results.records.folder import MANIFEST_FORMAT
from results.records.verdict import VERDICT_FORMAT

_RUN = ("run", "date", "story", "target", "backend")


@dataclass(frozen=True, slots=True)
class Tables:
    """- runs: one row a judged run (run, date, story, target, backend, started, plan_hash, commit, seed, verdict,
      duration, headline).
    - findings: one row a finding (run, date, story, target, backend, and the finding's own columns).
    - steps: one row a step or phase of a run (run, date, story, target, backend, step, seconds, outcome).
    - unreadable: one row a file (run, file, lines): lines that are not what they should be, torn last ones included.
    """

    runs: DataFrame
    findings: DataFrame
    steps: DataFrame
    unreadable: DataFrame


def read_tables(spark: SparkSession, found: Survey) -> Tables:
    manifests = _read(spark, found.files("manifest"), MANIFEST, whole=True, of=MANIFEST_FORMAT)
    verdicts = _read(spark, found.files("verdict"), VERDICT, whole=True, of=VERDICT_FORMAT)
    journals = _read(spark, found.files("journal"), EVENT, whole=False)
    events = _good(journals)
    began = events.groupBy("run").agg(F.min("wall").alias("began"))
    manifest = _good(manifests).select("run", "started", "seed", "commit", "backend")
    judged = _good(verdicts).join(manifest, "run", "left")
    judged = judged.join(began, "run", "left").withColumn("started", F.coalesce("started", "began"))
    judged = judged.withColumn("backend", F.coalesce("backend", F.lit("unknown")))
    judged = judged.withColumn("date", _date("run", "started")).cache()
    runs = judged.select(*_RUN, "started", "plan_hash", "commit", "seed", "verdict", "duration", "headline")
    findings = judged.select(*_RUN, F.explode("findings").alias("finding")).select(*_RUN, "finding.*")
    steps = _steps(events).join(runs.select(*_RUN), "run")
    unreadable = _bad(manifests, "manifest.json").union(_bad(verdicts, "verdict.json")).union(_bad(journals, "journal"))
    return Tables(runs, findings, steps, unreadable)


def _read(
    spark: SparkSession, paths: Sequence[str], schema: StructType, *, whole: bool, of: str | None = None
) -> DataFrame:
    """JSON files with the name of their run. A malformed one, or one whose format is not `of`, is a row with something
    in the corrupt column."""
    if not paths:
        return spark.createDataFrame([], schema).withColumn("run", F.lit(""))
    reader = spark.read.schema(schema).option("mode", "PERMISSIVE").option("columnNameOfCorruptRecord", CORRUPT)
    frame = reader.option("multiLine", whole).json(list(paths))
    if of is not None:
        strange = F.when(~F.col("format").eqNullSafe(of), "of another format")
        frame = frame.withColumn(CORRUPT, F.coalesce(F.col(CORRUPT), strange))
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
