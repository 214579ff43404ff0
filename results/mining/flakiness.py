"""Which tests are flaky, which are broken, and with how much certainty."""

import json
import math
import operator
from functools import reduce
from itertools import product

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.computed import computed
from fencepost.results.mining.formulas import entropy, wilson
from fencepost.results.mining.identity import (
    HALTS,
    TARGET,
    TEST,
    build_of,
    counted,
    failed,
    is_retried_pass,
    of_run,
)

SURE = 0.9
"""The posterior probability from which a test is called healthy, flaky or broken; below it is `unsure`."""
HEALTHY_RATES = (0.0003, 0.001, 0.003)
FLAKY_RATES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_BROKEN = (0.002, 0.01, 0.03, 0.1, 0.3, 0.6, 0.95)
"""The grid: failure rates of healthy and of flaky tests, and shares of builds on which a test is broken."""
_STATES = ("broken", "flaky", "healthy")
_EVIDENCE = ("partly", "partly_x", "partly_passed", "all_failed", "newest_n", "newest_failed")
"""The counts of a test from which its posterior follows."""
EXAMPLES = ("passed", "failed")
"""A run that passed and one that failed, of the newest plan that did both on one build."""
_SUMS = ("unstable_plans", "failed_again", "passed_again")
_RUNS = ("verdicts", "violations", "retried_passes", *HALTS, "unknown_builds")
"""The counts of runs; all others are of attempts, which are what shows whether a test is flaky."""
_GRID = [
    {
        "pi": pi,
        "p": p,
        "log_prior": math.log(
            (0.7 / len(HEALTHY_RATES) if p in HEALTHY_RATES else 0.3 / len(FLAKY_RATES)) / len(_BROKEN)
        ),
        "log_p": math.log(p),
        "log_q": math.log(1 - p),
        "log_rest": math.log(1 - pi),
    }
    for pi, p in product(_BROKEN, HEALTHY_RATES + FLAKY_RATES)
]
"""The points, with the logarithms that each test needs of them."""


def flakiness(tests: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the scores of each test, those of each day by `outcomes_by_day` of the runs, with examples."""
    return with_examples(scores(tests), runs)


def scores(tests: DataFrame) -> DataFrame:
    """Return the scores of each test. Runs of healthy tests with a rate below 1 % of failures count as healthy.

    `tests` are those of each day, by `outcomes_by_day`. `passed` and `failed` are hashes of runs.

    Columns beside test, target, backend:

    - runs, passes, violations, infrastructure, inconclusive: counts of verdicts of runs, each that of its last
      attempt. Only passes and violations count in the scores; the others have their trends in `halts`.
    - failure_rate, rate_low, rate_high: violations / (passes + violations), with Wilson's 95 % interval.
    - retried_passes: the passes after attempts that failed. attempts, failed_attempts, attempt_failure_rate: the same
      as for runs, of all attempts. What follows goes by attempts: one build, one plan, and another verdict.
    - flip_rate: neighbours in time with different verdicts / pairs of neighbours.
    - entropy: H = -p log2 p - (1-p) log2 (1-p) on each build, weighted by its runs; 0 if each build passed or failed
      as a whole.
    - same_plan, other_plan: the probability that two runs on one build differ, of one plan (nondeterminism) and of
      two plans (what chaos finds): sum of x (n-x) / sum of n (n-1) / 2 for x failures of n runs. Null without pairs.
    - unknown_builds: runs whose build is not known. Each counts as a build of its own, as does each report of an
      imported suite, so that their order in time decides.
    - unstable_plans: plans that both passed and failed on one build; passed and failed are runs of such a plan.
    - plan_decides: the probability that the plan decides the verdict: 1 / (1 + c), where c is the probability that
      repeated plans agree as they did if it does not. 0 if a plan is unstable, 0.5 if no plan was repeated, null if
      all verdicts are equal.
    - healthy, flaky, broken: the posterior of the present state; `state` is the one that reaches 0.9, else `unsure`.
      In place of `flaky` it is `by plan` if plan_decides reaches 0.9.

    The posterior integrates over a grid of the share pi of builds on which the test is broken, and of the rate p at
    which it fails elsewhere. A build with x failures of n runs has the likelihood
    pi [x = n] + (1 - pi) p^x (1-p)^(n-x). Broken: the newest build is one of the first kind. Flaky: it is not, and
    p >= 1 %.
    Sources: flip rate and entropy: E. Kowalczyk et al., Modeling and ranking flaky tests at Apple, 2020; the mixture:
    M. Machalica et al., Probabilistic flakiness, Meta, 2020.
    """
    tests = computed(_by_test(_by_build(_by_plan(tests))))
    n, x = F.col("n"), F.col("x")
    verdicts, violations = F.col("verdicts"), F.col("violations")
    low, high = wilson(violations, verdicts)
    by_chance = F.exp(F.col("failed_again") * F.log(x / n) + F.col("passed_again") * F.log(1 - x / n))
    decides = F.when((x > 0) & (x < n), F.when(F.col("unstable_plans") > 0, 0.0).otherwise(1 / (1 + by_chance)))
    return _with_posterior(tests).select(
        *TEST,
        (verdicts + F.col("infrastructure") + F.col("inconclusive")).alias("runs"),
        (verdicts - violations).alias("passes"),
        "violations",
        *HALTS,
        "retried_passes",
        n.alias("attempts"),
        x.alias("failed_attempts"),
        _rate(x, n).alias("attempt_failure_rate"),
        _rate(violations, verdicts).alias("failure_rate"),
        low.alias("rate_low"),
        high.alias("rate_high"),
        _rate(F.col("flips"), F.col("pairs")).alias("flip_rate"),
        _rate(F.col("entropy"), n).alias("entropy"),
        _rate(F.col("same_differ"), F.col("same_pairs")).alias("same_plan"),
        _rate(F.col("other_differ"), F.col("other_pairs")).alias("other_plan"),
        "unknown_builds",
        "unstable_plans",
        decides.alias("plan_decides"),
        *(*EXAMPLES, "healthy", "flaky", "broken"),
        _state(decides).alias("state"),
    )


def _state(decides: Column) -> Column:
    flaky = F.col("flaky") >= SURE
    return (
        F.when(F.col("healthy") >= SURE, "healthy")
        .when(flaky & (F.coalesce(decides, F.lit(0.0)) >= SURE), "by plan")
        .when(flaky, "flaky")
        .when(F.col("broken") >= SURE, "broken")
        .otherwise("unsure")
    )


def outcomes_by_day(runs: DataFrame) -> DataFrame:
    """Return what scores count of each test, build and plan on each day.

    Columns beside date, test, target, backend: build, commit (that of the harness) and plan as hashes, n and x
    (attempts with a verdict, and failures of them), pairs and flips (of neighbours in time on the day), opened (in the
    row with the first verdict of the test on that day, 1 if it failed, else 0; else null), those of `_RUNS`, last_at,
    and passed and failed: hashes of a run that passed, and of one that failed.

    An unknown build is no build that runs share: each run has one of its own, and the results of one report share one.
    """
    key = ("date", *TEST)
    order = Window.partitionBy(*key).orderBy("started_at", "run")
    earlier = order.rowsBetween(Window.unboundedPreceding, -1)
    # All rows are sorted, so they hold numbers where those do: a hash of 64 bits stands for a text of any length.
    narrow = counted(runs).select(
        *key,
        "started_at",
        F.xxhash64("run_id").alias("run"),
        F.when(build_of(TARGET).isNotNull(), F.xxhash64(build_of(TARGET)))
        .otherwise(F.xxhash64(F.coalesce("report", "run_id")))
        .alias("build"),
        F.when(F.col("commit").isNotNull(), F.xxhash64("commit")).alias("commit"),
        of_run(F.when(build_of(TARGET).isNull(), 1)).alias("unknown_builds"),
        F.xxhash64("plan_hash").alias("plan"),
        failed().alias("failed"),
        *(of_run(F.when(F.col("verdict") == name, 1)).alias(name) for name in HALTS),
        of_run(failed()).alias("verdicts"),
        of_run(F.when(failed() == 1, 1)).alias("violations"),
        F.when(is_retried_pass(), 1).alias("retried_passes"),
    )
    before = narrow.withColumn("before", F.last("failed", ignorenulls=True).over(earlier))
    paired = before.withColumns(
        {
            "flip": F.col("failed") != F.col("before"),
            "first": F.when(F.col("before").isNull(), F.col("failed")),
        }
    )
    return paired.groupBy(*key, "build", "commit", "plan").agg(
        F.count("failed").alias("n"),
        F.coalesce(F.sum("failed"), F.lit(0)).alias("x"),
        F.count("flip").alias("pairs"),
        F.count(F.when(F.col("flip"), 1)).alias("flips"),
        F.max("first").alias("opened"),
        *(F.count(name).alias(name) for name in _RUNS),
        F.max("started_at").alias("last_at"),
        F.max(F.when(F.col("failed") == 0, F.col("run"))).alias("passed"),
        F.max(F.when(F.col("failed") == 1, F.col("run"))).alias("failed"),
    )


def _by_plan(tests: DataFrame) -> DataFrame:
    """Return the sums of each plan on each build, with the pairs of neighbours of which each is on another day."""
    # No later step moves the rows of a test again.
    rows = tests.repartition(*TEST)
    day = Window.partitionBy(*TEST, "date")
    earlier = Window.partitionBy(*TEST).orderBy("date").rowsBetween(Window.unboundedPreceding, -1)
    # The last verdict of a day is the first one, turned as often as verdicts flip.
    closed = (F.max("opened").over(day) + F.sum("flips").over(day)) % 2
    rows = rows.withColumn("closed", F.when(F.col("opened").isNotNull(), closed))
    rows = rows.withColumn("before", F.last("closed", ignorenulls=True).over(earlier))
    over_night = F.col("opened") != F.col("before")
    return (
        rows.withColumns(
            {
                "pairs": F.col("pairs") + over_night.isNotNull().cast("long"),
                "flips": F.col("flips") + F.coalesce(over_night.cast("long"), F.lit(0)),
            }
        )
        .groupBy(*TEST, "build", "plan")
        .agg(
            *(F.sum(name).alias(name) for name in ("n", "x", "pairs", "flips", *_RUNS)),
            *(F.max(name).alias(name) for name in ("last_at", *EXAMPLES)),
        )
    )


def _by_build(plans: DataFrame) -> DataFrame:
    """Return the sums of each build; `all_failed`: no run of it passed."""
    n, x = F.col("n"), F.col("x")
    unstable = (x > 0) & (x < n)
    unstable_at = F.when(unstable, F.col("last_at"))
    on_builds = plans.groupBy(*TEST, "build").agg(
        *(F.sum(name).alias(name) for name in ("n", "x", "pairs", "flips", *_RUNS)),
        F.sum(n * (n - 1) / 2).alias("same_pairs"),
        F.sum(x * (n - x)).alias("same_differ"),
        F.count(F.when(unstable, 1)).alias("unstable_plans"),
        F.sum(F.when((x == n) & (n > 0), n - 1).otherwise(0)).alias("failed_again"),
        F.sum(F.when((x == 0) & (n > 0), n - 1).otherwise(0)).alias("passed_again"),
        *(F.max_by(name, unstable_at).alias(name) for name in EXAMPLES),
        F.max(unstable_at).alias("unstable_at"),
        F.max(F.when(n > 0, F.col("last_at"))).alias("last_at"),
    )
    return on_builds.withColumn("all_failed", (x == n) & (n > 0))


def _by_test(on_builds: DataFrame) -> DataFrame:
    """Return the sums of each test, and what the posterior needs of its builds."""
    n, x = F.col("n"), F.col("x")
    partly = F.when(~F.col("all_failed"), 1)
    return on_builds.groupBy(*TEST).agg(
        *(F.sum(name).alias(name) for name in ("pairs", "flips", *_RUNS, *_SUMS)),
        F.sum("same_pairs").alias("same_pairs"),
        F.sum("same_differ").alias("same_differ"),
        F.sum(n * (n - 1) / 2 - F.col("same_pairs")).alias("other_pairs"),
        F.sum(x * (n - x) - F.col("same_differ")).alias("other_differ"),
        F.sum(F.when(n > 0, n * entropy(x / n))).alias("entropy"),
        F.sum(partly * x).alias("partly_x"),
        F.sum(partly * (n - x)).alias("partly_passed"),
        F.count(F.when(n > x, 1)).alias("partly"),
        F.array_sort(F.collect_list(F.when(F.col("all_failed"), n.cast("double")))).alias("all_failed"),
        F.max_by("all_failed", "last_at").alias("newest_failed"),
        F.max_by(n.cast("double"), "last_at").alias("newest_n"),
        *(F.max_by(name, "unstable_at").alias(name) for name in EXAMPLES),
        # Last, because they take the names of columns that are summed above.
        F.sum("n").alias("n"),
        F.sum("x").alias("x"),
    )


def _rate(part: Column, whole: Column) -> Column:
    return F.when(whole > 0, part / whole)


def with_examples(tests: DataFrame, runs: DataFrame) -> DataFrame:
    """Replace the hashes of runs in the columns passed and failed by their ids: passed_run and failed_run.

    Few tests have an unstable plan, and Spark sorts all rows for an aggregate that holds text.
    """
    named = tests.where("unstable_plans > 0").select(F.explode(F.array(*EXAMPLES)).alias("run")).distinct()
    ids = computed(runs.select("run_id", F.xxhash64("run_id").alias("run")).join(F.broadcast(named), "run"))
    for name in EXAMPLES:
        found = ids.select(F.col("run").alias(name), F.col("run_id").alias(f"{name}_run"))
        tests = tests.join(F.broadcast(found), name, "left").drop(name)
    return tests


def _with_posterior(tests: DataFrame) -> DataFrame:
    """Add the columns healthy, flaky and broken, which add up to 1.

    They are the same for the same counts, which most tests share with others, so each is computed once.
    """
    # One literal: as an array of structs it would take 500 calls to the JVM.
    fields = ", ".join(f"{name}: double" for name in _GRID[0])
    grid = F.from_json(F.lit(json.dumps(_GRID)), f"array<struct<{fields}>>")

    def log_weight(at: Column) -> Column:
        """Return the log of prior times likelihood at one point of the grid."""
        whole = F.aggregate(
            "all_failed",
            F.lit(0.0),
            lambda sum_, n: sum_ + F.log(at["pi"] + (1 - at["pi"]) * F.pow(at["p"], n)),
        )
        partly = F.col("partly_x") * at["log_p"] + F.col("partly_passed") * at["log_q"]
        return at["log_prior"] + partly + F.col("partly") * at["log_rest"] + whole

    def share(at: Column, log: Column) -> Column:
        """Return the weights of the three states at one point of the grid."""
        weight = F.exp(log - F.col("top"))
        by_chance = (1 - at["pi"]) * F.pow(at["p"], F.col("newest_n"))
        broken = F.when(F.col("newest_failed"), at["pi"] / (at["pi"] + by_chance)).otherwise(0.0)
        return F.struct(
            (weight * broken).alias("broken"),
            F.when(at["p"] >= FLAKY_RATES[0], weight * (1 - broken)).otherwise(0.0).alias("flaky"),
            F.when(at["p"] < FLAKY_RATES[0], weight * (1 - broken)).otherwise(0.0).alias("healthy"),
        )

    zero = F.struct(*(F.lit(0.0).alias(name) for name in _STATES))

    def add(sum_: Column, each: Column) -> Column:
        return F.struct(*((sum_[name] + each[name]).alias(name) for name in _STATES))

    tests = tests.na.fill(0, ["partly_x", "partly_passed"]).na.fill(False, ["newest_failed"])
    different = tests.select(*_EVIDENCE).distinct()
    weighed = different.withColumn("grid", grid).withColumn("logs", F.transform("grid", log_weight))
    weighed = weighed.withColumn("top", F.array_max("logs"))
    # A generator, because Spark would put the whole sum into each filter of a column that is made of it.
    sums = weighed.select("*", F.inline(F.array(F.aggregate(F.zip_with("grid", "logs", share), zero, add))))
    total = reduce(operator.add, (F.col(name) for name in _STATES))
    states = sums.select(
        *(F.col(name).alias(f"of_{name}") for name in _EVIDENCE),
        *((F.col(name) / total).alias(name) for name in _STATES),
    )
    same = [F.col(name).eqNullSafe(F.col(f"of_{name}")) for name in _EVIDENCE]
    return tests.join(states, same).drop(*states.columns[: len(_EVIDENCE)])


def halts(tests: DataFrame, *, days: int = 7) -> DataFrame:
    """Return how many runs of each test ended without proof, over periods of some days.

    `tests` are those of each day. Columns beside test, target, backend: period (its first day), runs, and for
    `infrastructure` and `inconclusive` the count, the rate and the ends of Wilson's 95 % interval: infrastructure,
    infrastructure_rate, infrastructure_low, infrastructure_high and so on.
    """
    day = F.datediff("date", F.lit("1970-01-05").cast("date"))
    period = F.date_add(F.lit("1970-01-05").cast("date"), (F.floor(day / days) * days).cast("int"))
    counts = (
        tests.groupBy(*TEST, period.alias("period"))
        .agg(F.sum("verdicts").alias("verdicts"), *(F.sum(name).alias(name) for name in HALTS))
        .withColumn("runs", F.col("verdicts") + reduce(operator.add, map(F.col, HALTS)))
        .where("runs > 0")
        .select(*TEST, "period", "runs", *HALTS)
    )
    for name in HALTS:
        low, high = wilson(F.col(name), F.col("runs"))
        counts = counts.withColumns(
            {f"{name}_rate": F.col(name) / F.col("runs"), f"{name}_low": low, f"{name}_high": high}
        )
    return counts
