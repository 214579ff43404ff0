"""Tests that fail together: one cause, one row."""

import operator
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
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
WAYS = 16
"""Orders in which sets are sorted."""
NEIGHBOURS = 40
"""Sets after it in an order that each set is compared with."""
_FIRST = 8
"""Occasions by which sets are sorted."""
_ROUNDS = 6
DISCOVERY = 0.05
"""The share of pairs by chance among those that are named."""
_COUNTS = ("target", "first_failures", "second_failures", "together")
_WORD = 63
"""Occasions in one number."""
_UNROLLED = 32
"""Numbers up to which Spark compiles their comparison; it interprets functions over arrays, which takes far longer."""


def failing_together(runs: DataFrame) -> DataFrame:
    """Return the pairs of tests that fail on the same occasions.

    An occasion is a CI job (its page), else a build of the target on one day and machine. Columns: target, first and
    second (test on backend), together (occasions on which both failed), first_failures, second_failures, similarity
    (Jaccard: both / any of them), q_value, group (the first test of all that are connected by such pairs within six
    steps).

    Each set of occasions is a set of bits. Sets are sorted in 16 ways, and each is compared with the 40 after it: in
    each way the occasions have an order of their own, by chance, and sets with the same first occasions are neighbours,
    as similar sets nearly always are in one of the ways. So the cost grows with the number of sets, not with its
    square. Of up to 40 sets all are compared; of 2,813 sets of the benchmark's kinds of tests in 50 jobs, all 81 pairs
    were found that a comparison of all sets names. A build that breaks a thousand tests at once is one set; of its
    tests 5 are paired with others, and the rest with the first. The p_value is Fisher's, of the occasions of the
    target: tests that fail often are together by chance, too. The q_value is over all pairs of sets. Rows have a
    similarity of 0.5 or more, 3 or more common occasions, and a q_value of at most 0.05.
    Sources: O. Parry et al., Systemic flakiness, 2025; the orders by chance: M. Bawa et al., LSH forest, 2005.
    """
    machine = F.concat_ws(" ", F.coalesce(build_of(TARGET), F.lit("")), F.to_date("started_at"), "machine")
    name = F.concat_ws(" on ", "test", "backend")
    ran = counted(runs).select("target", name.alias("name"), "verdict", F.coalesce("ci_url", machine).alias("occasion"))
    totals = ran.groupBy("target").agg(F.approx_count_distinct("occasion", 0.01).alias("occasions"))
    tests = computed(_tests(ran.where("verdict = 'violation'")))
    similar = computed(_similar(tests))
    discovered = F.broadcast(_discovered(similar, tests, totals))
    pairs = computed(similar.join(discovered, list(_COUNTS)))
    named = _named(pairs.join(F.broadcast(_groups(pairs, tests)), "first_set"), tests)
    columns = ("target", "first", "second", "together", "first_failures", "second_failures", "similarity", "q_value")
    return named.select(*columns, "group")


def _tests(failures: DataFrame) -> DataFrame:
    """Return the tests that failed on 3 or more occasions.

    Columns: target, name, failures (occasions), bits (of the occasions), set (the number of these bits among those of
    all targets, in the order of their first tests), alike (the number of the test among those of its set) and several
    (whether there is another one).
    """
    failed = computed(failures.select("target", "name", "occasion").distinct())
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
    tests = tests.withColumn("first", F.min("name").over(same))
    return tests.select(
        *("target", "name", "failures", "bits"),
        F.dense_rank().over(Window.orderBy("target", "first")).alias("set"),
        F.row_number().over(same.orderBy("name")).alias("alike"),
        (F.count("*").over(same) > 1).alias("several"),
    )


def _similar(tests: DataFrame) -> DataFrame:
    """Return the pairs of sets that are similar enough, and each set that several tests have with itself.

    Columns: target, first_set, second_set, first_failures, second_failures, together.
    """
    sets = tests.where("alike = 1").select("target", "bits", "failures", "set", "several")
    numbers = f"sequence(0, size(bits) * {_WORD} - 1)"
    is_there = f"(shiftright(bits[cast(n div {_WORD} as int)], cast(n % {_WORD} as int)) & 1) = 1"
    ways = sets.withColumn("occasions", F.expr(f"filter({numbers}, n -> {is_there})"))
    ways = ways.withColumn("way", F.explode(F.sequence(F.lit(1), F.lit(WAYS))))
    first = F.expr(f"slice(array_sort(transform(occasions, n -> xxhash64(n, way))), 1, {_FIRST})")
    order = Window.partitionBy("target", "way").orderBy("first", "set")
    placed = ways.withColumn("first", first).withColumn("place", F.row_number().over(order))
    placed = computed(placed.drop("occasions", "first", "several"))
    part = F.floor(F.col("place") / NEIGHBOURS)
    a = placed.withColumn("part", F.explode(F.array(part, part + 1))).alias("a")
    b = placed.withColumn("part", part).alias("b")
    here = (F.col(f"a.{name}") == F.col(f"b.{name}") for name in ("target", "way", "part"))
    near = (F.col("b.place") - F.col("a.place")).between(1, NEIGHBOURS)
    words = tests.agg(F.max(F.size("bits"))).first()
    together = _common(words[0] if words else None).cast("long")
    sizes = F.struct("a.failures", "a.set"), F.struct("b.failures", "b.set")
    compared = a.join(b, reduce(operator.and_, here) & near).select(
        "a.target",
        F.least(*sizes).alias("first"),
        F.greatest(*sizes).alias("second"),
        together.alias("together"),
    )
    compared = compared.select(
        "target",
        *(F.col(f"{end}.set").alias(f"{end}_set") for end in ("first", "second")),
        *(F.col(f"{end}.failures").alias(f"{end}_failures") for end in ("first", "second")),
        "together",
    )
    itself = sets.where("several").select("target", "set", "set", "failures", "failures", "failures")
    together = F.col("together")
    similar = compared.where((together >= LEAST_SIMILARITY * _any()) & (together >= LEAST_FAILURES))
    return similar.distinct().union(itself)


def _any() -> Column:
    """Return the number of occasions on which any of two sets failed."""
    return F.col("first_failures") + F.col("second_failures") - F.col("together")


def _common(words: int | None) -> Column:
    """Return the number of bits that `a.bits` and `b.bits`, of at most so many words, have in common."""
    if words is not None and words <= _UNROLLED:
        counts = (F.bit_count(F.get("a.bits", word).bitwiseAND(F.get("b.bits", word))) for word in range(words))
        return reduce(operator.add, (F.coalesce(count, F.lit(0)) for count in counts))
    return F.aggregate(
        F.zip_with("a.bits", "b.bits", lambda one, other: F.bit_count(one.bitwiseAND(other))),
        F.lit(0),
        lambda sum_, each: sum_ + each,
    )


def _discovered(similar: DataFrame, tests: DataFrame, totals: DataFrame) -> DataFrame:
    """Return the counts of pairs of sets that are no chance: those of `_COUNTS`, similarity and q_value.

    Millions of pairs have some thousands of different counts.
    """
    kinds = similar.groupBy(*_COUNTS).agg(F.count("*").alias("pairs")).join(F.broadcast(totals), "target")
    tested = kinds.withColumn(
        "p_value",
        fisher_tail(
            F.col("together"),
            F.col("first_failures"),
            F.col("second_failures"),
            F.greatest(F.col("occasions"), _any()),
        ),
    )
    # All pairs are hypotheses, not only those that are similar.
    of_target = F.count("*") * (F.count("*") - 1) / 2 + F.count(F.when(F.col("several"), 1))
    sets = tests.where("alike = 1").groupBy("target").agg(of_target.alias("hypotheses"))
    number = sets.agg(F.sum("hypotheses").alias("hypotheses"))
    tested = with_false_discovery_rate(
        tested.crossJoin(F.broadcast(number)), number=F.col("hypotheses"), weight=F.col("pairs")
    )
    found = tested.where(F.col("q_value") <= DISCOVERY)
    return found.select(*_COUNTS, (F.col("together") / _any()).alias("similarity"), "q_value")


def _named(similar: DataFrame, tests: DataFrame) -> DataFrame:
    """Replace the sets of each pair by tests: target, first, second and the other columns of `similar`."""
    of = tests.select("target", "name", "set", "alike")
    first = of.select("target", F.col("name").alias("one"), F.col("set").alias("first_set"), F.col("alike").alias("i"))
    second = of.select(
        "target", F.col("name").alias("two"), F.col("set").alias("second_set"), F.col("alike").alias("j")
    )
    pairs = similar.join(F.broadcast(first), ["target", "first_set"])
    pairs = pairs.join(F.broadcast(second), ["target", "second_set"])
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
    return pairs.select(
        "target", "together", "similarity", "q_value", "group", *(column.alias(name) for name, column in ends.items())
    )


def _groups(pairs: DataFrame, tests: DataFrame) -> DataFrame:
    """Return the group of each set: first_set, group (a test); labels spread over the pairs in six rounds."""
    there = pairs.select(F.col("first_set").alias("a"), F.col("second_set").alias("b"))
    sets = tests.where("alike = 1")
    # Each set is its own neighbour, so that a round reads the labels of the one before once.
    near = computed(there.union(there.select("b", "a")).union(sets.select("set", "set")))
    labels = near.groupBy(F.col("a").alias("b")).agg(F.min("b").alias("label"))
    for _ in range(_ROUNDS - 1):
        labels = near.join(F.broadcast(labels), "b").groupBy(F.col("a").alias("b")).agg(F.min("label").alias("label"))
    names = sets.select(F.col("set").alias("label"), F.col("name").alias("group"))
    return labels.join(F.broadcast(names), "label").select(F.col("b").alias("first_set"), "group")
