"""Tests that fail together: one cause, one row."""

from pyspark.ml.feature import HashingTF, MinHashLSH
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from fencepost.results.mining.association import with_false_discovery_rate
from fencepost.results.mining.formulas import fisher_tail
from fencepost.results.mining.identity import TARGET, build_of, counted

LEAST_SIMILARITY = 0.5
"""The Jaccard similarity of the occasions on which two tests failed, from which they fail together."""
LEAST_FAILURES = 3
_OCCASIONS = 1 << 18
_ROUNDS = 6


def failing_together(runs: DataFrame) -> DataFrame:
    """Return the pairs of tests that fail on the same occasions, the most similar first.

    An occasion is a CI job (its page), else a build of the target on one day and machine. Columns: target, first and
    second (test on backend), together (occasions on which both failed), first_failures, second_failures, similarity
    (Jaccard: both / any of them), q_value, group (the first test of all that are connected by such pairs within six
    steps).

    Pairs come of MinHash, so tests without a common occasion are never compared. The p_value is Fisher's, of the
    occasions of the target: tests that fail often are together by chance, too. Rows have a similarity of 0.5 or more,
    3 or more common occasions, and a q_value of at most 0.05.
    Sources: A. Broder, On the resemblance and containment of documents, 1997; O. Parry et al.,
    Systemic flakiness, 2025.
    """
    machine = F.concat_ws(" ", F.coalesce(build_of(TARGET), F.lit("")), F.to_date("started_at"), "machine")
    name = F.concat_ws(" on ", "test", "backend")
    ran = counted(runs).select("target", name.alias("name"), "verdict", F.coalesce("ci_url", machine).alias("occasion"))
    totals = ran.groupBy("target").agg(F.approx_count_distinct("occasion", 0.01).alias("occasions"))
    failures = ran.where("verdict = 'violation'").groupBy("target", "name").agg(F.collect_set("occasion").alias("on"))
    failures = failures.withColumn("failures", F.size("on")).where(F.col("failures") >= LEAST_FAILURES)
    # The target is part of the key, so tests of two targets have nothing in common.
    keyed = failures.withColumn("on", F.transform("on", lambda each: F.concat_ws(" ", "target", each)))
    hashed = HashingTF(numFeatures=_OCCASIONS, binary=True, inputCol="on", outputCol="features").transform(keyed)
    hashed = hashed.select("target", "name", "failures", "features").cache()
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=6, seed=1).fit(hashed)
    similar = model.approxSimilarityJoin(hashed, hashed, 1 - LEAST_SIMILARITY + 1e-9, distCol="distance")
    a, b = F.col("datasetA"), F.col("datasetB")
    pairs = similar.where((a["name"] < b["name"]) & (a["target"] == b["target"])).select(
        a["target"].alias("target"),
        a["name"].alias("first"),
        b["name"].alias("second"),
        a["failures"].alias("first_failures"),
        b["failures"].alias("second_failures"),
        (1 - F.col("distance")).alias("similarity"),
    )
    both = F.round(
        F.col("similarity") * (F.col("first_failures") + F.col("second_failures")) / (1 + F.col("similarity"))
    ).cast("long")
    pairs = pairs.withColumn("together", both).where(F.col("together") >= LEAST_FAILURES)
    tested = pairs.join(F.broadcast(totals), "target").withColumn(
        "p_value",
        fisher_tail(
            F.col("together"),
            F.col("first_failures"),
            F.col("second_failures"),
            F.greatest(F.col("occasions"), F.col("first_failures") + F.col("second_failures") - F.col("together")),
        ),
    )
    named = with_false_discovery_rate(tested).where("q_value <= 0.05").drop("p_value", "occasions").cache()
    columns = ("target", "first", "second", "together", "first_failures", "second_failures", "similarity", "q_value")
    return (
        named.join(_groups(named), ["target", "first"])
        .select(*columns, "group")
        .orderBy(F.desc("similarity"), "target", "first", "second")
    )


def _groups(pairs: DataFrame) -> DataFrame:
    """Return the group of each test: target, first (the test), group; labels spread over the pairs in six rounds."""
    there = pairs.select("target", F.col("first").alias("a"), F.col("second").alias("b"))
    itself = there.select("target", "a", F.col("a").alias("b")).union(
        there.select("target", "b", F.col("b").alias("a"))
    )
    # Each test is its own neighbour, so that a round reads the labels of the one before once.
    near = there.union(there.select("target", "b", "a")).union(itself).distinct().cache()
    labels = near.groupBy("target", F.col("a").alias("b")).agg(F.min("b").alias("group"))
    for _ in range(_ROUNDS - 1):
        labels = (
            near.join(labels, ["target", "b"])
            .groupBy("target", F.col("a").alias("b"))
            .agg(F.min("group").alias("group"))
        )
    return labels.withColumnRenamed("b", "first")
