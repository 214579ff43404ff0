"""Which tests to put into quarantine: those whose failures say nothing new about the target."""

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from fencepost.results.mining.change_points import change_points
from fencepost.results.mining.flakiness import with_examples
from fencepost.results.mining.groups import sorted_rows
from fencepost.results.mining.identity import TARGET, TEST

LEAST_FLAKY = 0.95
MOST_BROKEN = 0.01
"""The posterior probabilities from which and up to which a test may be proposed."""

SUSPECTED = 1.0
"""The prior odds of a change: a regression is suspected long before it is certain."""


def of_scenarios(runs: DataFrame) -> DataFrame:
    """Return the runs of fencepost's scenarios: not those of random plans, nor of the tests of other suites."""
    return runs.where((F.col("source") == "fencepost") & F.col("campaign").isNull())


def broken(scored: pa.Table) -> list[tuple[str, str, str]]:
    """Return the tests that are broken: test, target, backend. They have no place in a quarantine."""
    return tests_of(scored.filter(pc.equal(scored["state"], "broken")))


def tests_of(rows: pa.Table) -> list[tuple[str, str, str]]:
    return [(row["test"], row["target"], row["backend"]) for row in rows.select(list(TEST)).to_pylist()]


def proposals(scored: pa.Table, tests: pa.Table, builds: pa.Table, runs: DataFrame) -> pa.Table:
    """Return the tests to propose; `scored` has their scores, `tests` and `builds` are those of each day.

    A test is proposed if it is flaky with 95 %, broken with less than 1 %, nondeterminism is proven (one plan both
    passed and failed on one build), and its newest change of the target, if one is as much as suspected, is not
    for the worse: a test that began to fail at a build is a regression, and a failure that the plan decides is a find
    of chaos. Columns: test, target, backend,
    failure_rate, rate_low, rate_high, passed_run, failed_run.
    """
    sure = (pc.field("flaky") >= LEAST_FLAKY) & (pc.field("broken") <= MOST_BROKEN) & (pc.field("state") == "flaky")
    flaky = scored.filter(sure & (pc.field("unstable_plans") > 0))
    changes = change_points(tests, builds, TARGET, prior=SUSPECTED)
    newest = {}
    for row in sorted_rows(changes, ("build_number",)).to_pylist():
        newest[row["test"], row["target"], row["backend"]] = row["direction"]
    proposed = flaky.filter(pa.array([newest.get(each) != "worse" for each in tests_of(flaky)], pa.bool_()))
    columns = (*TEST, "failure_rate", "rate_low", "rate_high", "passed_run", "failed_run")
    return sorted_rows(with_examples(proposed, runs).select(columns), ("-failure_rate", *TEST))
