"""Which faults, pairs, roles, states, releases and backends raise the probability of a failure."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.association import associated, with_false_discovery_rate
from fencepost.results.mining.computed import computed
from fencepost.results.mining.driver_rows import frame_of
from fencepost.results.mining.identity import counted, failed

STRATUM = ("test", "target")
"""Runs are compared with runs of the same test on the same target only."""
LEAST_FAILURES = 3
"""The failures that a cause must have been present in."""
DISCOVERY = 0.05
"""The share of false causes among those that are named."""
_PAIRED = 24
"""The features of which pairs are looked at: those with the highest scores, and the most frequent kinds of faults."""
MOST_INDEPENDENT = 6
_SUPPORT = 0.02
"""The share of failures in which a pair must be."""
_ALL = 0
"""In place of a bit: all runs of a stratum."""


def cells(tests: DataFrame, runs: DataFrame, faults: DataFrame) -> DataFrame:
    """Return the runs of each stratum that are alike in features, counted: test, target, features (sorted), n (runs),
    x (failures). Several rows may have the same features. `tests` are those of each day, by `outcomes_by_day`.

    From the faults of a run: `fault:pause`, `fault:pause role:leader`, `fault:pause node:catching up`, `role:leader`,
    `state:ISR of t-0 shrunk`. From the run: `release:3.9.1`, `backend:docker`, and those of its plan
    (`workload:transactions`).

    A stratum in which all runs have one verdict says nothing, and is left out.
    """
    judged = counted(runs).withColumn("failed", failed()).where("failed is not null")
    totals = tests.groupBy(*STRATUM).agg(F.sum("n").alias("all_n"), F.sum("x").alias("all_x"))
    # Most tests have one verdict: their runs and faults leave before anything is made of them.
    mixed = F.broadcast(computed(totals.where("all_x > 0 and all_x < all_n").select(*STRATUM)))
    hits, places = _hits(faults.join(mixed, list(STRATUM)), faults)
    alike = (
        judged.join(mixed, list(STRATUM))
        .withColumn("run", F.xxhash64("run_id"))
        .join(hits, "run", "left")
        .groupBy(*STRATUM, "release", "backend", "features", "places")
        .agg(F.count("*").alias("n"), F.sum("failed").alias("x"))
        .crossJoin(F.broadcast(places))
    )
    none = F.array().cast("array<string>")
    of_run = F.array(F.concat(F.lit("release:"), "release"), F.concat(F.lit("backend:"), "backend"))
    of_faults = F.flatten(F.transform("places", lambda number: F.element_at("features_of", number)))
    present = F.concat(of_run, F.coalesce("features", none), F.coalesce(of_faults, none))
    features = F.array_sort(F.array_distinct(F.array_compact(present)))
    return alike.select(*STRATUM, features.alias("features"), "n", "x")


def _hits(hits: DataFrame, faults: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return run and places (sorted numbers of what its faults hit), and one row with the features of each number.

    Millions of runs hit some hundreds of places. A hash of 64 bits stands for the id of a run: text is grouped and
    joined far more slowly.
    """
    place = ("kind", "role", "node_state", "cluster_state")
    number = F.row_number().over(Window.partitionBy(F.lit(0)).orderBy(*place)).alias("number")
    numbered = computed(faults.select(*place).distinct().select(*place, number))
    same = [hits[each].eqNullSafe(numbered[each]) for each in place]
    of_runs = hits.join(F.broadcast(numbered), same).groupBy(F.xxhash64("run_id").alias("run"))
    fault = F.concat(F.lit("fault:"), "kind")
    role, node, state = (
        F.concat(F.lit(f"{name}:"), column)
        for name, column in (("role", "role"), ("node", "node_state"), ("state", "cluster_state"))
    )
    features = F.array(fault, F.concat_ws(" ", fault, role), F.concat_ws(" ", fault, node), role, state)
    listed = F.array_sort(F.collect_list(F.struct("number", features.alias("features"))))
    features_of = numbered.agg(F.transform(listed, lambda each: each["features"]).alias("features_of"))
    return of_runs.agg(F.array_sort(F.collect_set("number")).alias("places")), features_of


def _counted(cells: DataFrame, stratum: Sequence[str]) -> DataFrame:
    """Return the counts of each feature in each stratum, as `associated` takes them."""
    cells = cells.select(*stratum, "features", "n", "x").repartition(*stratum)
    totals = cells.groupBy(*stratum).agg(F.sum("n").alias("all_n"), F.sum("x").alias("all_x"))
    with_feature = (
        cells.withColumn("feature", F.explode("features"))
        .groupBy(*stratum, "feature")
        .agg(F.sum("n").alias("with_n"), F.sum("x").alias("with_x"))
    )
    return with_feature.join(totals, list(stratum))


def attribution(cells: DataFrame) -> DataFrame:
    """Return the features, and pairs of them, with which tests fail more often than without, best first.

    `cells` has the runs, as the function of that name counts them. Columns: causes (one or two features), rank,
    q_value, and those of `associated` for causes and strata of one test on one target each, so that a fault is not
    blamed for the scenario that always has it. The q_value is over all features and pairs that were tested; rows have
    at most 0.05.

    `independent` numbers the causes that explain all others: the one with the highest z, then the best one for the runs
    without the first, and so on, at most 6; null for the rest, which have a part or a consequence of a cause. rank has
    the independent ones first, then all by z.

    Pairs come of the frequent ones in failed runs. A pair is named if it is in fewer runs than
    either part, and if runs with both fail more often than runs with each part alone (p_value at most 0.01), so that
    a cause is not named again with each feature that is present by chance.
    Source of the elimination of explained runs: B. Liblit et al., Scalable statistical bug isolation, 2005.
    """
    # A hash stands for a stratum: numbers are grouped and joined several times, and faster than names.
    found = cells.select(F.xxhash64(*STRATUM).alias("stratum"), "features", "n", "x")
    by_features = computed(found)
    single = associated(_counted(by_features, ("stratum",)), ("feature",))
    single = computed(single.where(F.col("failures") >= LEAST_FAILURES))
    best = _Best.of(single, by_features)
    pairs = computed(best.pairs())
    candidates = best.chosen.select(F.array("bit").alias("causes")).union(pairs.select("causes"))
    independent = best.independent(computed(candidates.withColumn("wanted", _mask("causes"))))
    tested = single.withColumn("causes", F.array("feature")).drop("feature").unionByName(best.named(pairs))
    named = with_false_discovery_rate(tested).where(F.col("q_value") <= DISCOVERY)
    if independent:
        numbered = [(number, bits) for number, bits in enumerate(independent, 1)]
        of_bits = frame_of(cells.sparkSession, {"independent": pa.int32(), "causes": pa.list_(pa.int32())}, numbered)
        named = named.join(F.broadcast(best.named(of_bits)), "causes", "left")
    else:
        named = named.withColumn("independent", F.lit(None).cast("int"))
    order = Window.partitionBy(F.lit(0)).orderBy(F.asc_nulls_last("independent"), F.desc("z"), "causes")
    return named.withColumn("rank", F.row_number().over(order)).orderBy("rank")


def attribution_by_test(cells: DataFrame) -> DataFrame:
    """Return the features with which each test fails more often: test, target, feature, q_value and `associated`'s.

    The p_value is Fisher's, the q_value over the features of the test; rows have at most 0.05.
    """
    found = associated(_counted(cells, STRATUM), (*STRATUM, "feature"))
    tested = found.where(F.col("failures") >= LEAST_FAILURES)
    return with_false_discovery_rate(tested, STRATUM).where(F.col("q_value") <= DISCOVERY)


@dataclass(frozen=True)
class _Best:
    """The runs of each stratum that have the same ones of the best features, counted.

    - chosen: feature, bit (from 1 for the best one).
    - counts: stratum, bits (sorted), mask (the same, as a number), n, x (runs, and failures).
    """

    chosen: DataFrame
    counts: DataFrame

    @classmethod
    def of(cls, single: DataFrame, by_features: DataFrame) -> "_Best":
        # A fault that only matters beside another one may be as rare in failures as elsewhere: so all kinds are paired.
        alone = F.col("p_value") < 0.05
        kind = F.col("feature").rlike("^fault:[^ ]+$")
        best = Window.partitionBy(F.lit(0)).orderBy(
            F.desc(alone), F.desc(F.when(alone, F.col("z"))), F.desc("failures")
        )
        chosen = single.where(alone | kind).select("feature", F.row_number().over(best).alias("bit"))
        chosen = computed(chosen.where(F.col("bit") <= _PAIRED))
        numbers = chosen.agg(F.map_from_entries(F.collect_list(F.struct("feature", "bit"))).alias("numbers"))
        bits = F.transform("features", lambda feature: F.try_element_at("numbers", feature))
        counts = (
            by_features.crossJoin(F.broadcast(numbers))
            .select("stratum", F.array_sort(F.array_compact(bits)).alias("bits"), "n", "x")
            .repartition("stratum")
            .groupBy("stratum", "bits")
            .agg(F.sum("n").alias("n"), F.sum("x").alias("x"))
            .withColumn("mask", _mask("bits"))
        )
        return cls(chosen, computed(counts))

    def named(self, frame: DataFrame) -> DataFrame:
        """Replace the column of bits, `causes`, by the names of the features."""
        names = F.broadcast(self.chosen)
        exploded = frame.withColumn("bit", F.explode("causes")).join(names, "bit")
        named = exploded.groupBy(F.col("causes").alias("key")).agg(
            F.sort_array(F.collect_list("feature")).alias("named")
        )
        return (
            frame.join(named, F.col("causes") == F.col("key")).withColumn("causes", F.col("named")).drop("key", "named")
        )

    def pairs(self) -> DataFrame:
        """Return the pairs that explain more than their parts, as `associated` has them; `causes` has their bits."""
        failed = self.counts.where("x > 0 and size(bits) > 1").select("bits", "x")
        first = failed.select("bits", "x", F.explode("bits").alias("first"))
        both = first.select("first", F.explode("bits").alias("second"), "x").where("first < second")
        least = F.broadcast(failed.agg((_SUPPORT * F.sum("x")).alias("least")))
        counts = both.groupBy("first", "second").agg(F.sum("x").alias("failures"))
        frequent = counts.crossJoin(least).where("failures >= least")
        pairs = frequent.select(F.array("first", "second").alias("causes"))
        there = _with_causes(self.counts, pairs.withColumn("wanted", _mask("causes")))
        # Three comparisons of a pair: with all other runs, and with the runs that have one of its parts.
        parts = self.counts.select("stratum", F.explode("bits").alias("bit"), "n", "x")
        among = parts.union(self.counts.select("stratum", F.lit(_ALL), "n", "x"))
        among = among.groupBy("stratum", "bit").agg(F.sum("n").alias("all_n"), F.sum("x").alias("all_x"))
        bit = F.explode(F.array(F.lit(_ALL), F.col("causes")[0], F.col("causes")[1]))
        scored = associated(there.withColumn("bit", bit).join(among, ["stratum", "bit"]), ("causes", "bit"))
        beyond = scored.where((F.col("bit") != _ALL) & (F.col("p_value") <= 0.01))
        beyond = beyond.groupBy("causes").agg(F.count("*").alias("parts")).where("parts = 2")
        kept = scored.where(F.col("bit") == _ALL).join(beyond, "causes")
        return kept.where(F.col("failures") >= LEAST_FAILURES).drop("bit", "parts")

    def independent(self, candidates: DataFrame) -> list[list[int]]:
        """Return the bits of the best candidate, then of the best one for the runs without the first, and so on."""
        found: list[list[int]] = []
        number = candidates.count()
        while len(found) < MOST_INDEPENDENT:
            rest = self.counts
            for bits in found:
                mask = sum(1 << bit for bit in bits)
                rest = rest.where(F.col("mask").bitwiseAND(mask) != mask)
            totals = rest.groupBy("stratum").agg(F.sum("n").alias("all_n"), F.sum("x").alias("all_x"))
            scored = associated(_with_causes(rest, candidates).join(totals, "stratum"), ("causes",))
            sure = F.col("p_value") * number <= DISCOVERY
            discovered = scored.where(sure & (F.col("failures") >= LEAST_FAILURES))
            best = discovered.orderBy(F.desc("z"), "causes").select("causes").first()
            if best is None:
                break
            found.append(best["causes"])
        return found


def _with_causes(counts: DataFrame, candidates: DataFrame) -> DataFrame:
    """Return stratum, causes, with_n and with_x: the runs of each stratum that have all causes of a candidate.

    `candidates` has the columns causes (bits) and wanted (the same, as a number).
    """
    wanted = F.col("wanted")
    there = counts.join(F.broadcast(candidates.select("wanted")), F.col("mask").bitwiseAND(wanted) == wanted)
    sums = there.groupBy("stratum", "wanted").agg(F.sum("n").alias("with_n"), F.sum("x").alias("with_x"))
    return sums.join(F.broadcast(candidates), "wanted").drop("wanted")


def _mask(bits: str) -> Column:
    """Return a column of bits as one number."""
    return F.aggregate(bits, F.lit(0).cast("long"), lambda sum_, bit: sum_ + F.pow(F.lit(2.0), bit).cast("long"))
