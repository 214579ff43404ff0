"""Which tests to put into quarantine: those whose failures say nothing new about the target."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from fencepost.results.mining.change_points import change_points
from fencepost.results.mining.computed import computed
from fencepost.results.mining.flakiness import with_examples
from fencepost.results.mining.identity import TARGET, TEST

LEAST_FLAKY = 0.95
MOST_BROKEN = 0.01
"""The posterior probabilities from which and up to which a test may be proposed."""

SUSPECTED = 1.0
"""The prior odds of a change: a regression is suspected long before it is certain."""


def of_scenarios(runs: DataFrame) -> DataFrame:
    """Return the runs of fencepost's scenarios: not those of random plans, nor of the tests of other suites."""
    return runs.where((F.col("source") == "fencepost") & F.col("campaign").isNull())


def broken(scored: DataFrame) -> DataFrame:
    """Return the tests that are broken: test, target, backend. They have no place in a quarantine."""
    return scored.where("state = 'broken'").select(*TEST)


def proposals(scored: DataFrame, tests: DataFrame, builds: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the tests to propose; `scored` has their scores, `tests` and `builds` are those of each day.

    A test is proposed if it is flaky with 95 %, broken with less than 1 %, nondeterminism is proven (one plan both
    passed and failed on one build), and its newest change of the target, if one is as much as suspected, is not
    for the worse: a test that began to fail at a build is a regression, and a failure that the plan decides is a find
    of chaos. Columns: test, target, backend,
    failure_rate, rate_low, rate_high, passed_run, failed_run.
    """
    sure = (F.col("flaky") >= LEAST_FLAKY) & (F.col("broken") <= MOST_BROKEN) & (F.col("state") == "flaky")
    flaky = computed(scored.where(sure & (F.col("unstable_plans") > 0)))
    of_flaky = tests.join(F.broadcast(flaky.select(*TEST)), list(TEST), "left_semi")
    changes = change_points(of_flaky, builds, TARGET, prior=SUSPECTED)
    newest = changes.groupBy(*TEST).agg(F.max_by("direction", "build_number").alias("direction"))
    proposed = flaky.join(newest, list(TEST), "left").where("direction is null or direction = 'better'")
    return (
        with_examples(computed(proposed), runs)
        .select(*TEST, "failure_rate", "rate_low", "rate_high", "passed_run", "failed_run")
        .orderBy(F.desc("failure_rate"), *TEST)
    )
