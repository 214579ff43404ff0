"""Tests that fail together: one cause, one row."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.association import with_false_discovery_rate
from fencepost.results.mining.computed import computed
from fencepost.results.mining.formulas import fisher_tail
from fencepost.results.mining.identity import TARGET, build_of, counted

LEAST_SIMILARITY = 0.5
"""The Jaccard similarity of the occasions on which two tests failed, from which they fail together."""
LEAST_FAILURES = 3
ALIKE = 5
"""Tests with the very same occasions that are paired with all others; further ones are paired with the first."""
_ROUNDS = 6
_WORD = 63
"""Occasions in one number."""


def failing_together(runs: DataFrame) -> DataFrame:
    """Return the pairs of tests that fail on the same occasions, the most similar first.

    An occasion is a CI job (its page), else a build of the target on one day and machine. Columns: target, first and
    second (test on backend), together (occasions on which both failed), first_failures, second_failures, similarity
    (Jaccard: both / any of them), q_value, group (the first test of all that are connected by such pairs within six
    steps).

    Each set of occasions is a set of bits and is compared with each other one of the target: n^2 / 2 comparisons of
    n sets, so it costs little up to some 10,000 tests that failed three times. A build that breaks a thousand tests at
    once is one set; of its tests 5 are paired with others, and the rest with the first. The p_value is Fisher's, of
    the occasions of the target: tests that fail often are together by chance, too. The q_value is over all pairs of
    tests that failed three times. Rows have a similarity of 0.5 or
    more, 3 or more common occasions, and a q_value of at most 0.05.
    Source: O. Parry et al., Systemic flakiness, 2025.
    """
    machine = F.concat_ws(" ", F.coalesce(build_of(TARGET), F.lit("")), F.to_date("started_at"), "machine")
    name = F.concat_ws(" on ", "test", "backend")
    ran = counted(runs).select("target", name.alias("name"), "verdict", F.coalesce("ci_url", machine).alias("occasion"))
    totals = ran.groupBy("target").agg(F.approx_count_distinct("occasion", 0.01).alias("occasions"))
    tests = computed(_tests(ran.where("verdict = 'violation'")))
    sets = tests.where("alike = 1").select("target", "bits", "failures", F.col("name").alias("set"))
    a, b = sets.alias("a"), F.broadcast(sets.alias("b"))
    both = F.aggregate(
        F.zip_with("a.bits", "b.bits", lambda one, other: F.bit_count(one.bitwiseAND(other))),
        F.lit(0),
        lambda sum_, each: sum_ + each,
    )
    # Sets of very different sizes cannot be similar.
    close = (F.col("a.failures") >= LEAST_SIMILARITY * F.col("b.failures")) & (
        F.col("b.failures") >= LEAST_SIMILARITY * F.col("a.failures")
    )
    ordered = (F.col("a.target") == F.col("b.target")) & (F.col("a.set") <= F.col("b.set"))
    compared = a.join(b, ordered & close).select(
        "a.target",
        F.col("a.set").alias("first_set"),
        F.col("b.set").alias("second_set"),
        F.col("a.failures").alias("first_failures"),
        F.col("b.failures").alias("second_failures"),
        both.cast("long").alias("together"),
    )
    any_ = F.col("first_failures") + F.col("second_failures") - F.col("together")
    similar = compared.withColumn("similarity", F.col("together") / any_)
    pairs = _named(similar.where(F.col("similarity") >= LEAST_SIMILARITY), tests)
    pairs = pairs.where(F.col("together") >= LEAST_FAILURES)
    tested = pairs.join(F.broadcast(totals), "target").withColumn(
        "p_value",
        fisher_tail(
            F.col("together"),
            F.col("first_failures"),
            F.col("second_failures"),
            F.greatest(F.col("occasions"), F.col("first_failures") + F.col("second_failures") - F.col("together")),
        ),
    )
    # All pairs are hypotheses, not only those that are similar.
    of_target = F.count("*") * (F.count("*") - 1) / 2
    number = tests.groupBy("target").agg(of_target.alias("pairs")).agg(F.sum("pairs").alias("pairs"))
    tested = with_false_discovery_rate(tested.crossJoin(F.broadcast(number)), number=F.col("pairs"))
    named = computed(tested.where("q_value <= 0.05").drop("p_value", "occasions", "pairs"))
    columns = ("target", "first", "second", "together", "first_failures", "second_failures", "similarity", "q_value")
    return (
        named.join(_groups(named), ["target", "first"])
        .select(*columns, "group")
        .orderBy(F.desc("similarity"), "target", "first", "second")
    )


def _tests(failures: DataFrame) -> DataFrame:
    """Return the tests that failed on 3 or more occasions.

    Columns: target, name, failures (occasions), bits (of the occasions), set (the first test with the same ones) and
    alike (the number of the test among those).
    """
    failed = failures.select("target", "name", "occasion").distinct()
    often = failed.groupBy("target", "name").agg(F.count("*").alias("failures")).where(f"failures >= {LEAST_FAILURES}")
    number = F.row_number().over(Window.partitionBy("target").orderBy("occasion")) - 1
    numbered = failed.select("target", "occasion").distinct().withColumn("number", number)
    words = (
        failed.join(often, ["target", "name"])
        .join(numbered, ["target", "occasion"])
        .groupBy("target", "name", "failures", F.floor(F.col("number") / _WORD).cast("int").alias("word"))
        .agg(F.sum(F.expr(f"shiftleft(1L, cast(number % {_WORD} as int))")).alias("bits"))
    )
    last = numbered.groupBy("target").agg(F.floor(F.max("number") / _WORD).cast("int").alias("last"))
    listed = words.groupBy("target", "name", "failures").agg(
        F.map_from_entries(F.collect_list(F.struct("word", "bits"))).alias("words")
    )
    every = F.transform(
        F.sequence(F.lit(0), "last"), lambda word: F.coalesce(F.try_element_at("words", word), F.lit(0))
    )
    tests = listed.join(F.broadcast(last), "target").select("target", "name", "failures", every.alias("bits"))
    same = Window.partitionBy("target", "bits")
    return tests.select(
        *("target", "name", "failures", "bits"),
        F.min("name").over(same).alias("set"),
        F.row_number().over(same.orderBy("name")).alias("alike"),
    )


def _named(similar: DataFrame, tests: DataFrame) -> DataFrame:
    """Replace the sets of each pair by tests: target, first, second and the other columns of `similar`."""
    of = tests.select("target", "name", "set", "alike")
    first = of.select("target", F.col("name").alias("one"), F.col("set").alias("first_set"), F.col("alike").alias("i"))
    second = of.select(
        "target", F.col("name").alias("two"), F.col("set").alias("second_set"), F.col("alike").alias("j")
    )
    pairs = similar.join(first, ["target", "first_set"]).join(second, ["target", "second_set"])
    within = F.col("first_set") == F.col("second_set")
    chosen = (F.col("i") <= ALIKE) & (F.col("j") <= ALIKE) | within & (F.col("i") == 1)
    pairs = pairs.where(chosen & F.when(within, F.col("i") < F.col("j")).otherwise(True))
    turned = F.col("one") > F.col("two")
    ends = {
        "first": F.when(turned, F.col("two")).otherwise(F.col("one")),
        "second": F.when(turned, F.col("one")).otherwise(F.col("two")),
        "first_failures": F.when(turned, F.col("second_failures")).otherwise(F.col("first_failures")),
        "second_failures": F.when(turned, F.col("first_failures")).otherwise(F.col("second_failures")),
    }
    return pairs.select("target", "together", "similarity", *(column.alias(name) for name, column in ends.items()))


def _groups(pairs: DataFrame) -> DataFrame:
    """Return the group of each test: target, first (the test), group; labels spread over the pairs in six rounds."""
    there = pairs.select("target", F.col("first").alias("a"), F.col("second").alias("b"))
    itself = there.select("target", "a", F.col("a").alias("b")).union(
        there.select("target", "b", F.col("b").alias("a"))
    )
    # Each test is its own neighbour, so that a round reads the labels of the one before once.
    near = computed(there.union(there.select("target", "b", "a")).union(itself).distinct())
    labels = near.groupBy("target", F.col("a").alias("b")).agg(F.min("b").alias("group"))
    for _ in range(_ROUNDS - 1):
        labels = (
            near.join(labels, ["target", "b"])
            .groupBy("target", F.col("a").alias("b"))
            .agg(F.min("group").alias("group"))
        )
    return labels.withColumnRenamed("b", "first")
