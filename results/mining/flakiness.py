"""Which tests are flaky, which are broken, and with how much certainty."""

import math
from dataclasses import dataclass
from datetime import date
from itertools import product

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.driver_rows import frame_of
from fencepost.results.mining.formulas import entropy, wilson
from fencepost.results.mining.groups import NOTHING, Flags, Floats, Groups, Numbers, keyed, numbers, ratio
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
EXAMPLES = ("passed", "failed")
"""A run that passed and one that failed, of the newest plan that did both on one build."""
_RUNS = ("verdicts", "violations", "retried_passes", *HALTS, "unknown_builds")
"""The counts of runs; all others are of attempts, which are what shows whether a test is flaky."""
_GRID = [
    (pi, p, math.log((0.7 / len(HEALTHY_RATES) if p in HEALTHY_RATES else 0.3 / len(FLAKY_RATES)) / len(_BROKEN)))
    for pi, p in product(_BROKEN, HEALTHY_RATES + FLAKY_RATES)
]
"""The points, with the logarithms of their priors."""
_AT_ONCE = 20_000
"""Tests that are weighed at once: each has a number for each point."""


def flakiness(tests: pa.Table, runs: DataFrame) -> pa.Table:
    """Return the scores of each test, those of each day by `outcomes_by_day` of the runs, with examples."""
    return with_examples(scores(tests), runs)


def scores(tests: pa.Table) -> pa.Table:
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
    test, keys = keyed(tests, TEST)
    plans = _Plans.of(test, tests)
    builds = Groups.of(plans.test, plans.build)
    n, x = builds.sum(plans.n), builds.sum(plans.x)
    unstable = (plans.x > 0) & (plans.x < plans.n)
    same_pairs, same_differ = builds.sum(_pairs(plans.n)), builds.sum(plans.x * (plans.n - plans.x))
    last_at = builds.max(np.where(plans.n > 0, plans.last_at, NOTHING))
    of_test = Groups.of(builds.first(plans.test))
    all_failed = (x == n) & (n > 0)
    newest = Groups.sorted_by(1, builds.first(plans.test), last_at, all_failed, n)
    evidence = _Evidence(
        of_test.sum(np.where(all_failed, 0, n > x)),
        of_test.sum(np.where(all_failed, 0, x)),
        of_test.sum(np.where(all_failed, 0, n - x)),
        builds.first(plans.test)[all_failed],
        n[all_failed],
        newest.last(n),
        newest.last(all_failed),
    )
    broken, flaky, healthy = evidence.posterior()
    in_runs = {name: np.bincount(test, numbers(tests, name), keys.num_rows).astype(np.int64) for name in _RUNS}
    pairs, flips = _neighbours(test, tests, keys.num_rows)
    by_plan = Groups.of(plans.test)
    again = np.maximum(plans.n - 1, 0)
    failed_again = by_plan.sum(np.where(plans.x == plans.n, again, 0))
    passed_again = by_plan.sum(np.where(plans.x == 0, again, 0))
    unstable_plans = by_plan.sum(unstable.astype(np.int64))
    examples = Groups.sorted_by(1, plans.test, np.where(unstable, plans.last_at, NOTHING), plans.passed, plans.failed)
    same_pairs_of, same_differ_of = of_test.sum(same_pairs), of_test.sum(same_differ)
    n_of, x_of = of_test.sum(n), of_test.sum(x)
    verdicts, violations = in_runs["verdicts"], in_runs["violations"]
    low, high = wilson(violations, verdicts)
    mixed = (x_of > 0) & (x_of < n_of)
    rate = x_of / np.maximum(n_of, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_chance = np.exp(failed_again * np.log(rate) + passed_again * np.log(1 - rate))
    decides = np.where(unstable_plans > 0, 0.0, 1 / (1 + np.where(mixed, by_chance, 0.0)))
    columns = {
        "runs": verdicts + in_runs["infrastructure"] + in_runs["inconclusive"],
        "passes": verdicts - violations,
        "violations": violations,
        **{name: in_runs[name] for name in HALTS},
        "retried_passes": in_runs["retried_passes"],
        "attempts": n_of,
        "failed_attempts": x_of,
        "attempt_failure_rate": ratio(x_of, n_of),
        "failure_rate": ratio(violations, verdicts),
        "rate_low": low,
        "rate_high": high,
        "flip_rate": ratio(flips, pairs),
        "entropy": ratio(of_test.sum(n * entropy(x / np.maximum(n, 1))), n_of),
        "same_plan": ratio(same_differ_of, same_pairs_of),
        "other_plan": ratio(of_test.sum(x * (n - x)) - same_differ_of, of_test.sum(_pairs(n)) - same_pairs_of),
        "unknown_builds": in_runs["unknown_builds"],
        "unstable_plans": unstable_plans,
        "plan_decides": pa.array(decides, mask=~mixed),
        "passed": pa.array(examples.last(plans.passed), mask=unstable_plans == 0),
        "failed": pa.array(examples.last(plans.failed), mask=unstable_plans == 0),
        "healthy": healthy,
        "flaky": flaky,
        "broken": broken,
        "state": _states(healthy, flaky, broken, np.where(mixed, decides, 0.0)),
    }
    for name, values in columns.items():
        keys = keys.append_column(name, pa.array(values))
    return keys


def _states(healthy: Floats, flaky: Floats, broken: Floats, decides: Floats) -> pa.Array:
    is_flaky = flaky >= SURE
    chosen = (healthy >= SURE, is_flaky & (decides >= SURE), is_flaky, broken >= SURE)
    return pa.array(np.select(chosen, ("healthy", "by plan", "flaky", "broken"), "unsure").tolist(), pa.string())


def _pairs(n: Numbers) -> Numbers:
    return n * (n - 1) // 2


@dataclass(frozen=True)
class _Plans:
    """The sums of each plan on each build of each test, all by test and build; `passed` and `failed` are of a run."""

    test: Numbers
    build: Numbers
    n: Numbers
    x: Numbers
    last_at: Numbers
    passed: Numbers
    failed: Numbers

    @classmethod
    def of(cls, test: Numbers, tests: pa.Table) -> "_Plans":
        build = numbers(tests, "build", NOTHING)
        groups = Groups.of(test, build, numbers(tests, "plan", NOTHING))
        sums = (groups.sum(numbers(tests, name)) for name in ("n", "x"))
        newest = (groups.max(numbers(tests, name, NOTHING)) for name in ("last_at", *EXAMPLES))
        return cls(groups.first(test), groups.first(build), *sums, *newest)


def _neighbours(test: Numbers, tests: pa.Table, number: int) -> tuple[Numbers, Numbers]:
    """Return the pairs of neighbours in time of each test, and those with different verdicts; also from day to day."""
    days = Groups.of(test, numbers(tests, "date"))
    flips = days.sum(numbers(tests, "flips"))
    opened = days.max(numbers(tests, "opened", -1))
    # The last verdict of a day is the first one, turned as often as verdicts flip.
    closed = (opened + flips) % 2
    of = days.first(test)
    all_pairs = np.bincount(test, numbers(tests, "pairs"), number)
    all_flips = np.bincount(of, flips, number)
    there = np.flatnonzero(opened >= 0)
    before, after = there[:-1], there[1:]
    same = of[before] == of[after]
    before, after = before[same], after[same]
    all_pairs += np.bincount(of[after], minlength=number)
    all_flips += np.bincount(of[after], opened[after] != closed[before], number)
    return all_pairs, all_flips


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


def with_examples(tests: pa.Table, runs: DataFrame) -> pa.Table:
    """Replace the hashes of runs in the columns passed and failed by their ids: passed_run and failed_run.

    Few tests have an unstable plan, so Spark looks for few runs.
    """
    hashes = pa.concat_arrays([tests[name].combine_chunks() for name in EXAMPLES]).drop_null().unique()
    run_of: dict[int, str] = {}
    if len(hashes):
        named = F.broadcast(frame_of(runs.sparkSession, {"run": pa.int64()}, [(each,) for each in hashes.to_pylist()]))
        ids = runs.select("run_id", F.xxhash64("run_id").alias("run")).join(named, "run").select("run", "run_id")
        run_of = dict(ids.collect())
    for name in EXAMPLES:
        found = pa.array([run_of.get(each) for each in tests[name].to_pylist()], pa.string())
        tests = tests.drop_columns([name]).append_column(f"{name}_run", found)
    return tests


@dataclass(frozen=True)
class _Evidence:
    """The counts of tests from which their posteriors follow.

    - partly: builds on which runs passed, partly_x and partly_passed: their attempts that failed, and that passed.
    - failed_test, failed_n: the test and the attempts of each build on which all failed, in the order of tests.
    - newest_n, newest_failed: the attempts of the newest build, and whether all failed.
    """

    partly: Numbers
    partly_x: Numbers
    partly_passed: Numbers
    failed_test: Numbers
    failed_n: Numbers
    newest_n: Numbers
    newest_failed: Flags

    def posterior(self) -> Floats:
        """Return the probabilities of broken, flaky and healthy: a row for each, a column for each test.

        They are the same for the same counts, so only different ones are weighed.
        """
        tests = len(self.partly)
        found = np.empty((3, tests))
        bounds = np.searchsorted(self.failed_test, np.arange(0, tests + _AT_ONCE, _AT_ONCE))
        for part, begin in enumerate(range(0, tests, _AT_ONCE)):
            of = slice(begin, min(tests, begin + _AT_ONCE))
            failed = slice(bounds[part], bounds[part + 1])
            found[:, of] = self._weighed(of, self.failed_test[failed] - begin, self.failed_n[failed])
        return found

    def _weighed(self, of: slice, failed_test: Numbers, failed_n: Numbers) -> Floats:
        pi, p, log_prior = (np.array(each)[:, None] for each in zip(*_GRID, strict=True))
        log = log_prior + self.partly_x[of] * np.log(p) + self.partly_passed[of] * np.log(1 - p)
        log = log + self.partly[of] * np.log(1 - pi)
        if len(failed_test):
            sizes, size = np.unique(failed_n, return_inverse=True)
            broken = np.log(pi + (1 - pi) * p**sizes)
            whole = Groups.of(failed_test)
            log[:, whole.first(failed_test)] += np.add.reduceat(broken[:, size], whole.start, axis=1)
        weight = np.exp(log - log.max(axis=0))
        by_chance = (1 - pi) * p ** self.newest_n[of]
        broken = weight * np.where(self.newest_failed[of], pi / (pi + by_chance), 0.0)
        is_flaky = (p >= FLAKY_RATES[0])[:, 0]
        rest = weight - broken
        found = np.array([broken.sum(axis=0), rest[is_flaky].sum(axis=0), rest[~is_flaky].sum(axis=0)])
        shares: Floats = found / found.sum(axis=0)
        return shares


def halts(tests: pa.Table, *, days: int = 7) -> pa.Table:
    """Return how many runs of each test ended without proof, over periods of some days.

    `tests` are those of each day. Columns beside test, target, backend: period (its first day), runs, and for
    `infrastructure` and `inconclusive` the count, the rate and the ends of Wilson's 95 % interval: infrastructure,
    infrastructure_rate, infrastructure_low, infrastructure_high and so on.
    """
    test, keys = keyed(tests, TEST)
    monday = (date(1970, 1, 5) - date(1970, 1, 1)).days
    periods = Groups.of(test, (numbers(tests, "date") - monday) // days * days + monday)
    counts = {name: periods.sum(numbers(tests, name)) for name in ("verdicts", *HALTS)}
    runs = sum(counts.values())
    there = np.flatnonzero(runs > 0)
    found = keys.take(periods.first(test)[there])
    first = periods.first((numbers(tests, "date") - monday) // days * days + monday)[there].astype(np.int32)
    found = found.append_column("period", pa.array(first).cast(pa.date32()))
    found = found.append_column("runs", pa.array(runs[there]))
    for name in HALTS:
        found = found.append_column(name, pa.array(counts[name][there]))
    for name in HALTS:
        low, high = wilson(counts[name][there], runs[there])
        rates = {"rate": counts[name][there] / runs[there], "low": low, "high": high}
        for what, values in rates.items():
            found = found.append_column(f"{name}_{what}", pa.array(values))
    return found
