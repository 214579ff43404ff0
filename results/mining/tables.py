"""The base tables: runs, findings, steps, and unreadable files."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from fencepost.results.mining.schemas import CORRUPT, EARLIER_NAMES, EVENT, MANIFEST, VERDICT
from fencepost.results.records.formats import EARLIER, MANIFEST_FORMAT, VERDICT_FORMAT
from fencepost.results.records.survey import Survey

_RUN = ("run", "campaign", "left_out", "date", "scenario", "target", "backend")
_CI = {"branch": "branch", "ci_system": "system", "ci_job": "job", "ci_url": "url"}
"""The columns of the job of continuous integration, and their keys in the manifest."""
_IDENTITY = ("target_version", "target_digest", "target_commit", *_CI)


@dataclass(frozen=True, slots=True)
class Tables:
    """The base tables. The first three begin with run, campaign, left_out, date, scenario, target, backend.

    `run` is the path below the surveyed folder. `campaign` is the folder of the campaign that a run is part of, else
    null. `left_out` is null for a run that the scores count, else the reason: `no node started`, as with a version that
    does not exist, or `with the planted defect NAME`.

    - runs: one row a judged run (started, plan_hash, commit, seed, verdict, duration, headline, planted_defect,
      target_version, target_digest, target_commit, branch, ci_system, ci_job, ci_url). The last ones are null where
      they are not known, `planted_defect` for healthy nodes.
    - findings: one row a finding, with its own columns.
    - steps: one row a step or phase of a run (step, seconds, outcome).
    - unreadable: one row a file (run, file, lines): malformed lines, a torn last line included.
    - not_exercised: one row a requirement that a run names and that nothing in it judged (requirement).
    - rules: one row a requirement (requirement, rule): its text in the newest verdict that has it.
    """

    runs: DataFrame
    findings: DataFrame
    steps: DataFrame
    unreadable: DataFrame
    not_exercised: DataFrame
    rules: DataFrame


def read_tables(spark: SparkSession, found: Survey) -> Tables:
    """Read the files of all surveyed folders. Files of format 1 get the present columns."""
    campaigns = [each.name for each in found.campaigns]
    manifests = _read(spark, found.files("manifest"), campaigns, MANIFEST, whole=True, of=MANIFEST_FORMAT)
    verdicts = _read(spark, found.files("verdict"), campaigns, VERDICT, whole=True, of=VERDICT_FORMAT)
    journals = _read(spark, found.files("journal"), campaigns, EVENT, whole=False)
    events = _good(journals)
    node_started = F.bool_or((F.col("type") == "node") & (F.col("phase") == "started"))
    began = events.groupBy("run").agg(F.min("wall").alias("began"), node_started.alias("node_started"))
    manifest = _good(manifests).select("run", "started", "seed", "commit", "backend", *_identity())
    verdict = _good(verdicts).withColumn("scenario", F.coalesce("scenario", EARLIER_NAMES["scenario"]))
    judged = verdict.join(manifest, "run", "left")
    judged = judged.join(began, "run", "left").withColumn("started", F.coalesce("started", "began"))
    judged = judged.withColumn("backend", F.coalesce("backend", F.lit("unknown")))
    judged = judged.withColumn("date", _date("run", "started")).withColumn("left_out", _left_out())
    judged = judged.withColumn("campaign", _given_text(F.regexp_extract("run", "^(.*)/", 1))).cache()
    runs = judged.select(
        *_RUN,
        "started",
        "plan_hash",
        "commit",
        "seed",
        "verdict",
        "duration",
        "headline",
        _given("planted_defect"),
        *_IDENTITY,
    )
    findings = judged.select(*_RUN, F.explode("findings").alias("finding")).select(*_RUN, "finding.*")
    findings = findings.withColumn("message", F.coalesce("message", EARLIER_NAMES["message"])).drop(
        EARLIER_NAMES["message"]
    )
    steps = _steps(events).join(runs.select(*_RUN), "run")
    unreadable = _bad(manifests, "manifest.json").union(_bad(verdicts, "verdict.json")).union(_bad(journals, "journal"))
    of_verdicts = judged.select(*_RUN, "started", F.explode("requirements").alias("of"))
    not_exercised = of_verdicts.where(F.col("of.state") == "not exercised").select(
        *_RUN, F.col("of.id").alias("requirement")
    )
    worded = of_verdicts.where("of.says is not null")
    rules = worded.groupBy(F.col("of.id").alias("requirement")).agg(F.max_by("of.says", "started").alias("rule"))
    return Tables(runs, findings, steps, unreadable, not_exercised, rules)


def _left_out() -> Column:
    """Return the reason for which the scores leave a run out; null for a run that they count."""
    idle = (F.col("verdict") == "infrastructure") & ~F.col("node_started")
    planted = F.concat(F.lit("with the planted defect "), "planted_defect")
    return F.when(idle, "no node started").when(_given("planted_defect").isNotNull(), planted)


def _identity() -> list[Column]:
    """Return the columns of a manifest that say what ran, and in which job."""
    given = [_given(name) for name in _IDENTITY if name not in _CI]
    return [*given, *(F.col("ci")[key].alias(name) for name, key in _CI.items())]


def _given(name: str) -> Column:
    """Return a column with null in place of an empty text."""
    return _given_text(F.col(name)).alias(name)


def _given_text(text: Column) -> Column:
    return F.when(text != "", text)


def _read(
    spark: SparkSession,
    paths: Sequence[str],
    campaigns: Sequence[str],
    schema: StructType,
    *,
    whole: bool,
    of: str | None = None,
) -> DataFrame:
    """Read JSON files, with their run: its name, after that of its campaign if it is in one.

    The corrupt column is set for a malformed file, and for one whose format is not `of`.
    """
    if not paths:
        return spark.createDataFrame([], schema).withColumn("run", F.lit(""))
    reader = spark.read.schema(schema).option("mode", "PERMISSIVE").option("columnNameOfCorruptRecord", CORRUPT)
    frame = reader.option("multiLine", whole).json(list(paths))
    if of is not None:
        known = [of, *(earlier for earlier, present in EARLIER.items() if present == of)]
        strange = F.when(~F.coalesce(F.col("format").isin(known), F.lit(False)), "of another format")
        frame = frame.withColumn(CORRUPT, F.coalesce(F.col(CORRUPT), strange))
    parts = F.split(F.col("_metadata.file_path"), "/")
    name, folder = F.element_at(parts, -2), F.element_at(parts, -3)
    return frame.withColumn(
        "run", F.when(folder.isin(*campaigns), F.concat_ws("/", folder, name)).otherwise(name)
    ).cache()


def _good(frame: DataFrame) -> DataFrame:
    return frame.where(F.col(CORRUPT).isNull()).drop(CORRUPT)


def _bad(frame: DataFrame, file: str) -> DataFrame:
    bad = frame.where(F.col(CORRUPT).isNotNull())
    return bad.groupBy("run").agg(F.count("*").alias("lines")).select("run", F.lit(file).alias("file"), "lines")


def _date(run: str, started: str) -> Column:
    """Return the day of a run: of its start, or of its name if neither manifest nor journal has the start."""
    of_start = F.date_format(F.timestamp_seconds(F.col(started)), "yyyy-MM-dd")
    return F.coalesce(of_start, F.regexp_extract(run, r"(?:^|/)(\d{4}-\d{2}-\d{2})[^/]*$", 1))


def _steps(events: DataFrame) -> DataFrame:
    """Return the duration of each step, and of the phases `(start)` before the first and `(end)` after the last."""
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
